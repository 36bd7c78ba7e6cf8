# SPDX-License-Identifier: MIT
# Models at work: compared on a text, and their importances collected.
"$ingot" sample model.gguf --layers 2 --embedding 64 --feed-forward 96 --context 64 -q
"$ingot" quantize model.gguf small.gguf Q4_0 -q
"$ingot" quantize model.gguf large.gguf Q8_0 -q
for i in {1..60}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt

# A model does not diverge from itself; a smaller one diverges more than a larger one.
"$ingot" evaluate model.gguf model.gguf large.gguf small.gguf --text text.txt --chunks 6 --json >all.json
python '
import json, math
all = json.load(open("all.json"))
assert all["chunk_tokens"] == 64 and all["chunk_count"] == 6 and all["scored_tokens"] == 6 * 31
same, large, small = all["others"]
assert same["kl"] == 0 and same["same_top"] == 1 and same["perplexity_ratio"] == 1
assert 0 < large["kl"] < small["kl"] and large["kl_error"] > 0
assert len(small["chunk_kl"]) == 6 and small["kl_quantiles"]["min"] < small["kl_quantiles"]["99.9%"]
assert abs(small["perplexity_ratio"] - math.exp(small["log_ratio"])) < 1e-12
difference = {(d["file"], d["other"]): d["kl"] for d in all["differences"]}
assert abs(difference["large.gguf", "small.gguf"] - (large["kl"] - small["kl"])) < 1e-9
'
"$ingot" evaluate model.gguf small.gguf --text text.txt --chunks 3 --by-chunk >page
grep -q '^small.gguf ' page || fail "no line of the model"
grep -q '^93 scored tokens of text.txt: 3 chunks of 64, the second half of each$' page || fail "no basis"
"$ingot" evaluate model.gguf small.gguf --text - --chunks 2 --ctx-size 32 --markdown <text.txt >table
grep -q '^| small.gguf | .* | .* +/- .* |' table || fail "no row of the table"
"$ingot" evaluate model.gguf --text text.txt --chunks 1 --json | grep -q '"perplexity_error": null' ||
  fail "one chunk has no error"

# The same in a file: a page without scripts, or JSON. It never replaces an input.
mkdir 'a<b'
cp small.gguf 'a<b/small.gguf'
"$ingot" evaluate model.gguf large.gguf 'a<b/small.gguf' --text text.txt --chunks 3 \
  --report page.html --json >printed.json
grep -q '^<tr><td>a&lt;b/small.gguf</td>' page.html || fail "no row on the page"
grep -c '<polyline' page.html | grep -qx 2 || fail "not a line for each model"
if grep -q -e '<script' -e 'a<b' page.html; then fail "the page is not safe"; fi
expect 2 "$ingot" evaluate model.gguf small.gguf --text text.txt --chunks 3 --report page.html
"$ingot" evaluate model.gguf large.gguf 'a<b/small.gguf' --text text.txt --chunks 3 \
  --report page.json >shown
expect_same printed.json page.json
expect 2 "$ingot" evaluate model.gguf small.gguf --text text.txt --report small.gguf --force

# What cannot be evaluated.
expect 2 "$ingot" evaluate model.gguf
expect 2 "$ingot" evaluate model.gguf --text text.txt --markdown --json
echo short >short.txt
expect 2 "$ingot" evaluate model.gguf --text short.txt
"$ingot" edit small.gguf -o other.gguf --set general.architecture=wavtokenizer-dec -q
expect 3 "$ingot" evaluate model.gguf other.gguf --text text.txt 2>message
grep -q '^ingot: other.gguf: .*wavtokenizer-dec.*known are apertus' message || fail "it does not name the model"

# Importances: both formats hold the same, and quantizing takes them.
"$ingot" imatrix collect model.gguf --text text.txt --chunks 4 -o matrix.gguf
"$ingot" imatrix collect model.gguf --text text.txt --chunks 4 -o matrix.dat
for file in matrix.gguf matrix.dat; do
  "$ingot" imatrix show "$file" --model model.gguf >shown
  grep -q '^14 entries, 4 chunks of .* tokens, from text.txt$' shown || fail "$file holds something else"
  grep -q '^14 tensors of the model have data.$' shown || fail "$file misses tensors"
done
"$ingot" quantize model.gguf with.gguf Q4_0 --imatrix matrix.gguf -q
"$ingot" imatrix collect model.gguf --text text.txt --chunks 4 --moments 32 -o moments.gguf
"$ingot" imatrix show moments.gguf --json | grep -q '"moment_columns": 32' || fail "no moments"
"$ingot" quantize model.gguf again.gguf Q4_0 --imatrix moments.gguf -q \
  --override-kv quantize.imatrix.file=str:matrix.gguf
expect_same with.gguf again.gguf
# Error feedback: what second moments are for. Without it they change nothing.
best() {
  "$ingot" quantize model.gguf "$@" Q4_0 --effort best --override-kv quantize.imatrix.file=str:matrix.gguf >/dev/null
}
best fed_back.gguf --imatrix moments.gguf --report fed_back.json 2>remarks
grep 'without second moments' remarks && fail "a remark on second moments that are there"
best searched.gguf --imatrix moments.gguf --no-feedback --report searched.json
best plain.gguf --imatrix matrix.gguf --report plain.html
expect_same searched.gguf plain.gguf
grep -q '<td>-</td>' plain.html || fail "an output error without second moments"
python '
import json
fed_back, searched = (json.load(open(name + ".json")) for name in ("fed_back", "searched"))
assert fed_back["error"]["output"] < 0.8 * searched["error"]["output"]
for tensor in fed_back["tensors"]:
    assert tensor["feedback"] == (tensor["name"].startswith("blk.") and tensor["to"] == "Q4_0"), tensor
assert not any(tensor["feedback"] for tensor in searched["tensors"])
'
expect_error 2 'goes with --effort best' "$ingot" quantize model.gguf x.gguf Q4_0 --no-feedback
expect_error 2 'cannot hold second moments' "$ingot" imatrix collect model.gguf --text text.txt \
  --moments 32 -o moments.dat
expect 2 "$ingot" imatrix collect model.gguf --text text.txt -o matrix.gguf
expect 2 "$ingot" imatrix collect model.gguf --text text.txt -o model.gguf --force
expect 2 "$ingot" imatrix collect model.gguf -o new.gguf
expect 2 "$ingot" imatrix show matrix.gguf --text text.txt

# Sensitivities: measured, used for a target, and gone on with.
"$ingot" sensitivity model.gguf --text text.txt --chunks 3 --imatrix matrix.gguf -o found.json >table
grep -q '^blk.1.ffn_down.weight ' table || fail "a tensor is missing"
"$ingot" sensitivity model.gguf --text text.txt --chunks 3 --imatrix matrix.gguf --json >printed.json
expect_same found.json printed.json
python '
import json
found = json.load(open("found.json"))
assert found["complete"] and found["chunk_count"] == 3 and found["imatrix"] == "matrix.gguf"
tensors = {tensor["name"]: tensor for tensor in found["tensors"]}
assert len(tensors) == 16 and all(tensor["kl"] > 0 for tensor in tensors.values())
for tensor in tensors.values():
    error = tensor["weighted_error"] or tensor["relative_error"]
    assert abs(tensor["alpha"] / (tensor["kl"] / error) - 1) < 1e-12
assert tensors["blk.0.attn_k.weight"]["weighted_error"] > 0
# One tensor matters a thousand times more, as if it had been measured so.
tensors["blk.0.attn_k.weight"]["kl"] *= 1000
json.dump(found, open("changed.json", "w"))
found["complete"] = False
found["tensors"] = found["tensors"][:5]
json.dump(found, open("stopped.json", "w"))
'
"$ingot" quantize model.gguf --plan --target-bpw 5 --imatrix matrix.gguf --sensitivity found.json --json \
  >plan.json
"$ingot" quantize model.gguf --plan --target-bpw 5 --imatrix matrix.gguf --sensitivity changed.json --json \
  >changed_plan.json
python '
import json
sizes = {}
for name in "plan.json", "changed_plan.json":
    plan = json.load(open(name))
    assert plan["bits_per_weight"] <= 5 and 0 < plan["target"]["bound"] <= plan["target"]["cost"]
    sizes[name] = {tensor["name"]: tensor["bytes"] for tensor in plan["tensors"]}["blk.0.attn_k.weight"]
assert sizes["plan.json"] < sizes["changed_plan.json"]
'
"$ingot" quantize model.gguf fitting.gguf --target-bpw 5 --sensitivity found.json |
  grep -q 'bound of every choice' || fail "no bound"
expect_error 2 'goes with --target-bpw' "$ingot" quantize model.gguf x.gguf Q4_0 --sensitivity found.json
expect_error 3 'was stopped' "$ingot" quantize model.gguf x.gguf --target-bpw 5 --sensitivity stopped.json
expect_error 3 'no file of' "$ingot" quantize model.gguf x.gguf --target-bpw 5 \
  --sensitivity all.json
expect_error 2 'it is an input' "$ingot" quantize model.gguf found.json --target-bpw 5 --sensitivity found.json \
  --force
"$ingot" sensitivity model.gguf --text text.txt --chunks 3 --imatrix matrix.gguf --resume -o stopped.json -q
python '
import json
found, resumed = (json.load(open(name)) for name in ("found.json", "stopped.json"))
found["tensors"][1:4] = resumed["tensors"][1:4]  # the one that was changed
assert resumed == found
'
expect_error 2 'measured with another' "$ingot" sensitivity model.gguf --text text.txt --chunks 2 --resume \
  -o stopped.json
expect_error 2 'text is missing' "$ingot" sensitivity model.gguf
expect 2 "$ingot" sensitivity model.gguf --text text.txt -o found.json
# Before the work, so that no text is needed.
expect_error 4 'missing/x.json: cannot create the output: No such' \
  "$ingot" sensitivity model.gguf --text none.txt -o missing/x.json
expect_error 4 'missing/x.gguf: cannot create the output: No such' \
  "$ingot" imatrix collect model.gguf --text none.txt -o missing/x.gguf
expect_error 4 'missing/x.html: cannot create the output: No such' \
  "$ingot" evaluate model.gguf --text none.txt --report missing/x.html
