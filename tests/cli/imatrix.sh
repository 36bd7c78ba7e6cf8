# SPDX-License-Identifier: MIT
# Importance matrices: shown, merged, converted, and used to quantize.
"$ingot" sample model.gguf --layers 2 --experts 4 -q
python '
import json, struct, subprocess, sys
tensors = json.loads(subprocess.run([sys.argv[1], "tensors", "model.gguf", "--json"], check=True,
                                    stdout=subprocess.PIPE).stdout)
def write(path, scale, names, chunks):
    entries = []
    for tensor in tensors:
        name, shape = tensor["name"], tensor["shape"]
        if not name.startswith("blk.") or len(shape) < 2 or "gate_inp" in name: continue
        if not names(name): continue
        count = shape[0] * (shape[2] if len(shape) > 2 else 1)
        values = [scale * (1 + i * 37 % 101) for i in range(count)]
        entries.append((name.encode(), values))
    with open(path, "wb") as file:
        file.write(struct.pack("<i", len(entries)))
        for name, values in entries:
            file.write(struct.pack("<i", len(name)) + name)
            file.write(struct.pack("<ii", chunks, len(values)))
            file.write(struct.pack(f"<{len(values)}f", *values))
        file.write(struct.pack("<ii", chunks, 8) + b"wiki.txt")
write("all.dat", 1, lambda name: True, 2)
write("attention.dat", 3, lambda name: "attn" in name, 2)
write("other.dat", 1, lambda name: "ffn" in name, 2)
' "$ingot"
"$ingot" imatrix convert all.dat all.gguf
"$ingot" imatrix convert all.gguf -o back.dat
"$ingot" imatrix show all.dat --json >dat.json
"$ingot" imatrix show all.gguf --json >gguf.json
"$ingot" imatrix show back.dat --json >back.json
python '
import json
dat, gguf, back = (json.load(open(name)) for name in ("dat.json", "gguf.json", "back.json"))
assert (dat["format"], gguf["format"]) == ("dat", "gguf")
assert dat["entries"] == gguf["entries"] == back["entries"] and dat["coverage"] is None
assert dat["datasets"] == ["wiki.txt"] and dat["chunk_count"] == gguf["chunk_count"] == 2
entry = {entry["name"]: entry for entry in dat["entries"]}["blk.0.ffn_down_exps.weight"]
assert entry["columns"] == 4 * 768 and entry["max"] == 50.5
'
# Merging is adding.
"$ingot" imatrix merge attention.dat other.dat -o merged.gguf
"$ingot" imatrix merge all.dat attention.dat -o sum.gguf
"$ingot" imatrix show sum.gguf --json | python '
import json, sys
means = {entry["name"]: entry["mean"] for entry in json.load(sys.stdin)["entries"]}
plain = {entry["name"]: entry["mean"] for entry in json.load(open("dat.json"))["entries"]}
for name, mean in means.items():
    assert abs(mean / plain[name] - (2 if "attn" in name else 1)) < 1e-6, name'
"$ingot" imatrix show all.gguf --model model.gguf | grep -q 'tensors of the model have data' ||
  fail "no coverage"
expect 1 "$ingot" imatrix show attention.dat --model model.gguf >coverage
grep -q '^  blk.0.ffn_up_exps.weight' coverage || fail "it does not say what is missing"

# Both formats, and several files at once, give the same model.
"$ingot" quantize model.gguf dat.gguf IQ2_XS --imatrix all.dat -q
"$ingot" quantize model.gguf gguf.gguf IQ2_XS --imatrix all.gguf -q \
  --override-kv quantize.imatrix.file=str:all.dat
expect_same dat.gguf gguf.gguf
"$ingot" quantize model.gguf merged_out.gguf Q4_K_M --imatrix merged.gguf -q
"$ingot" quantize model.gguf both_out.gguf Q4_K_M --imatrix attention.dat --imatrix other.dat -q \
  --override-kv quantize.imatrix.file=str:merged.gguf
for name in merged_out both_out; do
  "$ingot" tensors "$name.gguf" --json >"$name.json"
  "$ingot" extract "$name.gguf" blk.0.attn_q.weight -o "$name.bin" --as raw
done
expect_same merged_out.json both_out.json
expect_same merged_out.bin both_out.bin
"$ingot" quantize model.gguf part.gguf Q4_K_M --imatrix all.dat --exclude-weights ffn 2>coverage >table
grep -q 'importance data for 8 of' coverage || fail "no coverage: $(cat coverage)"
"$ingot" quantize model.gguf --plan Q4_K_M --imatrix all.dat --include-weights attn_q 2>&1 >plan |
  grep -q 'importance data for 2 of' || fail "not only what is included"

expect_error 3 'not an importance matrix' "$ingot" imatrix show model.gguf
expect_error 3 'not an importance matrix' "$ingot" quantize model.gguf x.gguf Q4_K_M --imatrix model.gguf
head -c 5000 all.dat >short.dat
expect_error 3 'breaks its format' "$ingot" imatrix show short.dat
"$ingot" sample other.gguf --embedding 512 --layers 2 --experts 4 -q
expect_error 2 'does not fit' "$ingot" quantize other.gguf x.gguf Q4_K_M --imatrix all.dat
expect_error 2 'has nothing on this tensor' "$ingot" quantize model.gguf x.gguf IQ2_XS --imatrix attention.dat
expect_error 2 'ACTION must be show, merge, convert or collect' "$ingot" imatrix frob all.dat
expect_error 2 '-o is missing' "$ingot" imatrix merge all.dat attention.dat
expect_error 2 '--force' "$ingot" imatrix convert all.dat all.gguf
expect_error 2 'it is an input' "$ingot" imatrix convert all.dat ./all.dat --force
