# SPDX-License-Identifier: MIT
# Quantizing: results, plans, reports, and what is refused. Which tensor gets which type:
# tests/convert/recipe_mixture_test.cpp; which bytes: quantize_model_test.cpp.
"$ingot" sample model.gguf --layers 4 --heads 8 --kv-heads 2 -q
"$ingot" quantize model.gguf out.gguf q4_k_m >table
grep -q '^The largest errors:' table || fail "no table of errors"
grep -q 'Q4_K_M: .* -> .* bits per weight' table || fail "no totals"
grep -q '^wrote out.gguf ([0-9.]* [KM]iB)$' table || fail "no name: $(cat table)"
"$ingot" check out.gguf -q >/dev/null
[[ $("$ingot" show out.gguf --json | python 'import json, sys
print(json.load(sys.stdin)["model"]["file_type"])') == Q4_K_M ]] || fail "wrong file type"

# Any number of threads, any CPU, either way of reading: the same bytes. A number names a type too.
"$ingot" quantize model.gguf one.gguf 15 -j 1 -q
INGOT_CPU=SCALAR "$ingot" quantize model.gguf three.gguf Q4_K_M -j 3 --io mmap -q
expect_same out.gguf one.gguf
expect_same out.gguf three.gguf

# What it says as JSON and in the report is what `report` measures.
"$ingot" quantize model.gguf out.gguf Q4_K_M --force --json --report report.json >out.json
expect_same out.json report.json
"$ingot" report out.gguf --reference model.gguf --json >measured.json
"$ingot" tensors out.gguf --json >tensors.json
python '
import json, math
out, measured = json.load(open("out.json")), json.load(open("measured.json"))
errors = {tensor["name"]: tensor["error"] for tensor in measured["tensors"]}
kinds = {tensor["name"]: tensor for tensor in json.load(open("tensors.json"))}
assert out["type"] == "Q4_K_M" and out["file_type"] == 15 and out["output"] == "out.gguf"
assert [tensor["name"] for tensor in out["tensors"]] == list(kinds)
for tensor in out["tensors"]:
    name, error = tensor["name"], tensor["error"]
    assert (kinds[name]["type"], kinds[name]["bytes"]) == (tensor["to"], tensor["bytes"])
    assert (error is None) == (tensor["from"] == tensor["to"]), name
    if error is None: continue
    for key in "rmse", "sqnr_db", "max":
        assert math.isclose(error[key], errors[name][key], rel_tol=1e-5), (name, key)
import os
assert out["file_size"] == os.path.getsize("out.gguf")
'
"$ingot" quantize model.gguf page.gguf Q8_0 -q --report page.html

# More effort: another file of the same size, with less error and a slope near one. Without second moments it
# promises no more.
"$ingot" quantize model.gguf best.gguf Q4_K_M --effort best --json >best.json 2>remarks
grep -q 'without second moments' remarks || fail "no remark on second moments"
cmp -s out.gguf best.gguf && fail "more effort gave the same bytes"
[[ $(stat -c %s out.gguf) == $(stat -c %s best.gguf) ]] || fail "more effort changed the size"
python '
import json
usual, best = (json.load(open(name))["error"] for name in ("out.json", "best.json"))
assert best["relative"] < usual["relative"], (best, usual)
assert abs(best["slope"] - 1) < 0.003, best
'
expect_error 2 'effort' "$ingot" quantize model.gguf x.gguf Q4_K_M --effort most
grep -q '<td>blk.0.attn_q.weight</td><td>F16</td><td>Q8_0</td>' page.html || fail "no page"

# A plan writes nothing and is what happens.
"$ingot" quantize model.gguf Q4_K_M --plan --json >plan.json
"$ingot" quantize model.gguf unused.gguf Q4_K_M --dry-run >plan
[[ ! -e unused.gguf ]] || fail "a plan wrote a file"
grep -q 'blk.0.attn_norm.weight .* kept: one dimension' plan || fail "no reason"
python '
import json
plan, out = json.load(open("plan.json")), json.load(open("out.json"))
assert plan["output"] is None and plan["file_size"] == out["file_size"]
assert [(t["name"], t["to"]) for t in plan["tensors"]] == [(t["name"], t["to"]) for t in out["tensors"]]
'

# Options: patterns, files of them, roles, keys.
printf '# mine\nffn_up=Q8_0 ffn_gate=q5_1\n' >patterns
"$ingot" quantize model.gguf mixed.gguf Q4_K_M -q --tensor-type 'attn_(q|k)=q6_k' \
  --tensor-type-file patterns --output-tensor-type f16 --token-embedding-type Q5_0 \
  --override-kv general.name=str:mine --override-kv llama.context_length=int:77 \
  --override-kv my.factor=float:0.5 --override-kv my.flag=bool:true
"$ingot" tensors mixed.gguf 'blk.1.*' '*.weight' --json | python '
import json, sys
types = {tensor["name"]: tensor["type"] for tensor in json.load(sys.stdin)}
assert types["blk.1.attn_q.weight"] == types["blk.3.attn_k.weight"] == "Q6_K"
assert types["blk.1.ffn_up.weight"] == "Q8_0" and types["blk.1.ffn_gate.weight"] == "Q5_1"
assert types["output.weight"] == "F16" and types["token_embd.weight"] == "Q5_0"
'
"$ingot" metadata mixed.gguf --json | python '
import json, sys
keys = {pair["key"]: (pair["type"], pair["value"]) for pair in json.load(sys.stdin)}
assert keys["general.name"] == ("string", "mine")
assert keys["llama.context_length"] == ("uint32", 77)
assert keys["my.factor"] == ("float32", 0.5) and keys["my.flag"] == ("bool", True)
'
"$ingot" quantize model.gguf kept.gguf Q4_0 -q --leave-output-tensor --pure
"$ingot" tensors kept.gguf output.weight blk.0.attn_v.weight | grep -c 'F16\|Q4_0' | grep -qx 2 ||
  fail "the output was not kept"
"$ingot" quantize model.gguf copy.gguf COPY -q

# A target is kept, and spent.
"$ingot" quantize model.gguf target.gguf --target-bpw 5 >target
grep -q 'Types were chosen by' target || fail "it does not say how types were chosen"
"$ingot" show target.gguf --json | python '
import json, sys
assert 4.8 < json.load(sys.stdin)["model"]["bits_per_weight"] <= 5'
"$ingot" quantize model.gguf size.gguf --target-size 1.5MiB -q
python 'import os
assert 0.93 * 1.5 * 2**20 < os.path.getsize("size.gguf") <= 1.5 * 2**20'

# Wrong use says what is right.
expect_error 2 'did you mean "Q4_K_M"' "$ingot" quantize model.gguf x.gguf Q4_KM
expect_error 2 'TYPE is missing' "$ingot" quantize model.gguf x.gguf
expect_error 2 'there is no TYPE "q4_k_x"; did you mean "Q4_K' "$ingot" quantize model.gguf q4_k_x
expect_error 2 'OUT is missing' "$ingot" quantize model.gguf --target-bpw 4
expect_error 2 'did you mean "Q6_K"' "$ingot" quantize model.gguf x.gguf Q4_0 --tensor-type a=q6k
expect_error 2 'PATTERN=TYPE' "$ingot" quantize model.gguf x.gguf Q4_0 --tensor-type q6_k
expect_error 2 'regular expression' "$ingot" quantize model.gguf x.gguf Q4_K_M --tensor-type '(=Q6_K'
expect_error 2 'no model is quantized to Q8_K' "$ingot" quantize model.gguf x.gguf Q4_0 \
  --output-tensor-type Q8_K
expect_error 2 'leave TYPE out' "$ingot" quantize model.gguf x.gguf Q4_0 --target-bpw 4
expect_error 2 'like 4200M' "$ingot" quantize model.gguf x.gguf --target-size big
expect_error 2 'miss the target' "$ingot" quantize model.gguf x.gguf --target-bpw 0.5
expect_error 2 'KEY=TYPE:VALUE' "$ingot" quantize model.gguf x.gguf Q4_0 --override-kv a=5
expect_error 2 'cannot set split.count' \
  "$ingot" quantize model.gguf x.gguf Q4_0 --override-kv split.count=uint16:3
expect_error 2 'did you mean "Q4_K_M"' "$ingot" quantize model.gguf x.gguf Q4K
expect_error 2 'did you mean "Q5_K_S"' "$ingot" quantize model.gguf x.gguf q5ks
expect_error 2 'did you mean "IQ4_XS"' "$ingot" quantize model.gguf x.gguf IQ4XS
expect_error 2 '39 is the tensor type MXFP4, did you mean "MXFP4' "$ingot" quantize model.gguf x.gguf 39
expect_error 2 'there is no TYPE "4711"; `ingot' "$ingot" quantize model.gguf x.gguf 4711
expect_error 2 'did you mean "Q4_K"' "$ingot" quantize model.gguf x.gguf Q8_0 --tensor-type a=Q4K
expect_error 4 'missing/x.gguf: cannot create the output: No such' \
  "$ingot" quantize model.gguf missing/x.gguf Q4_0
expect_error 4 'missing/r.json: cannot create the output: No such' \
  "$ingot" quantize model.gguf x.gguf Q4_0 --report missing/r.json
[[ ! -e x.gguf ]] || fail "the report was noticed after the work"
expect_error 2 'is no uint32' "$ingot" quantize model.gguf x.gguf Q4_0 --override-kv a=uint32:x
expect_error 2 'it is an input' "$ingot" quantize model.gguf ./model.gguf Q4_0 --force
expect_error 2 '--force replaces it' "$ingot" quantize model.gguf out.gguf Q4_0
expect_error 2 'importance matrix' "$ingot" quantize model.gguf x.gguf IQ2_XS
expect_error 2 'quantized already' "$ingot" quantize out.gguf x.gguf Q4_0
"$ingot" quantize out.gguf again.gguf Q4_0 --allow-requantize -q
head -c 2000000 model.gguf >short.gguf
expect_error 3 'fetch the file again' "$ingot" quantize short.gguf x.gguf Q4_0
# A NaN in the source: blk.0.attn_norm is copied, and looked at all the same.
python '
import json, subprocess, sys
tensor = json.loads(subprocess.run([sys.argv[1], "tensors", "model.gguf", "blk.0.attn_norm.weight",
                                    "--json"], check=True, stdout=subprocess.PIPE).stdout)[0]
data = bytearray(open("model.gguf", "rb").read())
data[tensor["file_offset"] + 12:tensor["file_offset"] + 16] = b"\0\0\xc0\x7f"
open("nan.gguf", "wb").write(data)' "$ingot"
expect_error 3 'element 3 (row 0, column 3) is NaN' "$ingot" quantize nan.gguf x.gguf Q4_0
"$ingot" quantize nan.gguf nan_out.gguf Q4_0 --allow-nan -q
expect_error 2 'the report must be another file' "$ingot" quantize model.gguf x.gguf Q4_0 \
  --report ./x.gguf --force
[[ ! -e x.gguf ]] || fail "wrong use made a file"

# Without OUT every word is a type, and each gets its file; a file of that name is an OUT.
"$ingot" sample many.gguf -q
"$ingot" quantize many.gguf q4_k_m Q8_0 Q8_0 >table
[[ $(awk '{ print $NF }' table | paste -sd ' ') == "file many-Q4_K_M.gguf many-Q8_0.gguf" ]] ||
  fail "the names: $(cat table)"
"$ingot" quantize many.gguf to8.gguf Q8_0 -q
expect_same to8.gguf many-Q8_0.gguf
"$ingot" quantize many.gguf to4.gguf Q4_K_M -q
expect_same to4.gguf many-Q4_K_M.gguf
expect_error 2 'the file exists; --force replaces it' "$ingot" quantize many.gguf Q5_K_M Q8_0
[[ ! -e many-Q5_K_M.gguf ]] || fail "the first was made though the second could not be"
expect_error 2 'there is one OUT, "x.gguf", for several types' "$ingot" quantize many.gguf x.gguf Q8_0 Q4_K_M
expect_error 2 'there is no TYPE "Q4_K_X"' "$ingot" quantize many.gguf Q8_0 Q4_K_X
"$ingot" quantize many.gguf Q4_0 Q5_0 --json | python 'import json, sys; assert len(json.load(sys.stdin)) == 2'
expect_error 2 'many.gguf: IQ2_XXS needs an importance matrix: --imatrix FILE' "$ingot" quantize many.gguf IQ2_XXS
expect_error 2 'needs an importance matrix' "$ingot" quantize many.gguf IQ2_XXS -o refused/
[[ ! -e refused ]] || fail "a refused run made a folder"
cp many.gguf Q6_K
expect_error 2 'the file exists' "$ingot" quantize many.gguf Q6_K Q8_0

# Names: without the type of the source, in a folder, by a pattern. Several types are one table.
cp model.gguf tiny-F16.gguf
"$ingot" quantize tiny-F16.gguf Q8_0 -q
[[ -e tiny-Q8_0.gguf ]] || fail "no tiny-Q8_0.gguf: $(ls)"
"$ingot" quantize tiny-F16.gguf -o quants/ Q8_0 Q4_0 >table
[[ -e quants/tiny-Q8_0.gguf && -e quants/tiny-Q4_0.gguf ]] || fail "$(ls quants)"
expect_same tiny-Q8_0.gguf quants/tiny-Q8_0.gguf
[[ $(wc -l <table) == 3 && $(grep -c 'largest errors' table) == 0 ]] || fail "$(cat table)"
grep -q '^Q4_0 .* % .* quants/tiny-Q4_0.gguf$' table || fail "$(cat table)"
"$ingot" quantize tiny-F16.gguf 'quants/{name}.{type}.gguf' Q8_0 -q
expect_same tiny-Q8_0.gguf quants/tiny.Q8_0.gguf
"$ingot" quantize tiny-F16.gguf quants Q5_0 -q
[[ -e quants/tiny-Q5_0.gguf ]] || fail "OUT is a folder"
expect_error 2 'a pattern with {type}' "$ingot" quantize tiny-F16.gguf -o one.gguf Q8_0 Q4_0
# A pattern is a glob, an expression after re:, or a part of names.
for pattern in '*.attn_v.weight' 're:attn_v' attn_v; do
  "$ingot" quantize model.gguf Q4_0 --dry-run --tensor-type "$pattern=Q8_0" --json >plan.json
  python '
import json
types = {t["name"]: t["to"] for t in json.load(open("plan.json"))["tensors"]}
assert types["blk.0.attn_v.weight"] == "Q8_0" and types["blk.0.attn_k.weight"] == "Q4_0", types'
done
"$ingot" quantize model.gguf Q4_0 --dry-run --tensor-type 'attn_?=Q8_0' --json >plan.json
if grep -q '"to": "Q8_0"' plan.json; then fail "a glob is about the whole name"; fi

# Weights on a lattice, as int4 checkpoints in BF16 have them, keep it; --effort reference rounds again.
python '
import json, struct, subprocess, sys
data = bytearray(open("model.gguf", "rb").read())
tensors = json.loads(subprocess.run([sys.argv[1], "tensors", "model.gguf", "--json"], check=True,
                                    stdout=subprocess.PIPE).stdout)
state = 1
for tensor in tensors:
    if not tensor["name"].startswith("blk.") or len(tensor["shape"]) < 2: continue
    assert tensor["type"] == "F16"
    begin, weights = tensor["file_offset"], []
    for i in range(tensor["elements"]):
        if i % 32 == 0: scale = (64 + i // 32 % 50) / 8192
        state = (state * 1664525 + 1013904223) % 2**32
        weights.append(scale * ((state >> 28) % 15 - 7))
    data[begin:begin + 2 * len(weights)] = struct.pack("<%de" % len(weights), *weights)
open("int4.gguf", "wb").write(data)' "$ingot"
"$ingot" quantize int4.gguf int4_auto.gguf Q4_0 --json >auto.json 2>remarks
grep -q 'with weights on a 4-bit lattice, groups of 32, keep it' remarks || fail "no remark: $(cat remarks)"
"$ingot" quantize int4.gguf int4_reference.gguf Q4_0 --effort reference --json >reference.json 2>remarks
if grep -q lattice remarks; then fail "the reference speaks of a lattice"; fi
python '
import json
auto, reference = ({t["name"]: t for t in json.load(open(name + ".json"))["tensors"]}
                   for name in ("auto", "reference"))
for name, tensor in auto.items():
    on = name.startswith("blk.") and len(tensor["shape"]) > 1
    assert (tensor["lattice"] is not None) == on and tensor["searched"] == (on and tensor["to"] == "Q4_0"), name
    if tensor["searched"]:
        assert tensor["error"]["max"] == 0 and reference[name]["error"]["relative"] > 0.05, name
        assert tensor["lattice"]["text"] == "4-bit lattice, groups of 32"
'
"$ingot" quantize int4.gguf --dry-run IQ4_XS 2>remarks | grep -q 'on a 4-bit lattice, groups of 32' ||
  fail "a plan does not tell of the lattice"
grep -q 'get types that do not hold it' remarks || fail "no remark on types: $(cat remarks)"
"$ingot" quantize model.gguf model_auto.gguf Q4_0 -q
"$ingot" quantize model.gguf model_reference.gguf Q4_0 -q --effort reference
expect_same model_auto.gguf model_reference.gguf
"$ingot" show int4.gguf | grep -q 'weights .*on a 4-bit lattice, groups of 32' || fail "show is silent"
"$ingot" show model.gguf --json | python 'import json, sys; assert json.load(sys.stdin)["lattice"] is None'
"$ingot" report int4.gguf --json | python '
import json, sys
for tensor in json.load(sys.stdin)["tensors"]:
    on = tensor["name"].startswith("blk.") and len(tensor["shape"]) > 1
    assert (tensor["lattice"] is not None) == on, tensor["name"]'
