# SPDX-License-Identifier: MIT
# What differs is named; formats, shards and order do not matter.
small="--embedding 64 --feed-forward 128 --heads 2 --kv-heads 1 --vocab 300"
# shellcheck disable=SC2086
{
  "$ingot" sample a.gguf --type F16 $small -q
  "$ingot" sample big.gguf --type F16 $small --endian big -q
  "$ingot" sample b.gguf --type Q8_0 $small -q
  "$ingot" sample other.gguf $small --layers 1 --vocab 320 -q
}
"$ingot" diff a.gguf a.gguf
"$ingot" diff a.gguf a.gguf --no-data
"$ingot" diff a.gguf a.gguf --data
"$ingot" diff a.gguf big.gguf --data
"$ingot" split a.gguf part --shards 3 -q
"$ingot" diff part-00002-of-00003.gguf a.gguf --data
expect 1 "$ingot" diff a.gguf b.gguf
expect 1 "$ingot" diff a.gguf b.gguf --data -j 3 >found
expect 1 "$ingot" diff a.gguf b.gguf --data -j 1 --io read >again
expect_same found again
expect 1 "$ingot" diff a.gguf b.gguf --data --json >found.json
python 'import json, math, struct, subprocess, sys
def floats(model, name):
    out = subprocess.run([sys.argv[1], "extract", model, name, "-o", "-", "--as", "f32"],
                         stdout=subprocess.PIPE, check=True).stdout
    return struct.unpack(f"<{len(out) // 4}f", out)
found = json.load(open("found.json"))
assert not found["same"] and len(found["data"]) == 21, len(found["data"])
changed = [t["name"] for t in found["tensors"]]
assert changed == [d["name"] for d in found["data"] if d["differing"]]
for data in found["data"]:
    if data["same_bytes"]:
        assert data["rmse"] == 0 and data["cosine"] == 1 and data["sqnr_db"] == "Infinity"
        continue
    a, b = floats("a.gguf", data["name"]), floats("b.gguf", data["name"])
    error = sum((y - x) ** 2 for x, y in zip(a, b))
    aa, bb, ab = (sum(x * y for x, y in zip(p, q)) for p, q in ((a, a), (b, b), (a, b)))
    assert data["max"] == max(abs(y - x) for x, y in zip(a, b))
    assert data["differing"] == sum(x != y for x, y in zip(a, b))
    assert math.isclose(data["rmse"], math.sqrt(error / len(a)), rel_tol=1e-9)
    assert math.isclose(data["sqnr_db"], 10 * math.log10(aa / error), rel_tol=1e-9)
    assert math.isclose(data["cosine"], ab / math.sqrt(aa * bb), rel_tol=1e-9)
' "$ingot"

# One weight byte that differs is a difference, whatever it means; one bit of a zero means nothing.
"$ingot" tensors a.gguf --json >tensors.json
python 'import json
places = {tensor["name"]: tensor["file_offset"] for tensor in json.load(open("tensors.json"))}
data = bytearray(open("a.gguf", "rb").read())
data[places["blk.0.attn_q.weight"] + 4097] ^= 1
open("changed.gguf", "wb").write(data)
data = bytearray(open("a.gguf", "rb").read())
at = places["output.weight"]
data[at:at + 2] = b"\0\0"
open("zero.gguf", "wb").write(data)
data[at + 1] = 0x80
open("minus.gguf", "wb").write(data)'
for options in "" "-j 1 --io read" "--io mmap"; do
  # shellcheck disable=SC2086
  expect 1 "$ingot" diff a.gguf changed.gguf $options
done
"$ingot" diff a.gguf changed.gguf --no-data
expect 1 "$ingot" diff a.gguf - <changed.gguf | tail -n 1
expect 1 "$ingot" diff a.gguf changed.gguf --data | tail -n 1
expect 1 "$ingot" diff zero.gguf minus.gguf --data
expect 1 "$ingot" diff big.gguf changed.gguf --json >found.json
"$ingot" diff a.gguf changed.gguf --no-data --json >skipped.json
python 'import json
found, skipped = (json.load(open(name)) for name in ("found.json", "skipped.json"))
assert not found["same"] and found["data"] is None
assert found["stored"]["compared"] == 21
assert [data["name"] for data in found["stored"]["differing"]] == ["blk.0.attn_q.weight"]
assert found["stored"]["differing"][0]["first_difference"] in (4096, 4097)
assert skipped["same"] and skipped["stored"] is None'
expect_error 2 'give one' "$ingot" diff a.gguf b.gguf --data --no-data

# Keys, arrays, names that try to drive the terminal.
expect 1 "$ingot" diff a.gguf other.gguf --json >found.json
python 'import json
found = json.load(open("found.json"))
keys = {key["key"]: key for key in found["keys"]}
assert keys["llama.block_count"]["change"] == "changed"
assert keys["llama.block_count"]["a"]["value"] == 2 and keys["llama.block_count"]["b"]["value"] == 1
tokens = keys["tokenizer.ggml.tokens"]
assert tokens["b"]["count"] == 320 and "value" not in tokens["a"]
assert any(t["change"] == "removed" and t["b"] is None for t in found["tensors"])'
expect 1 "$ingot" diff a.gguf other.gguf | grep -E 'block_count|tokens|attn_k|differ'
expect_error 2 'standard input' "$ingot" diff - -
expect 4 "$ingot" diff a.gguf missing.gguf 2>/dev/null
