# SPDX-License-Identifier: MIT
# Models at work: compared on a text, and their importances collected.
"$ingot" sample model.gguf --layers 2 --embedding 64 --feed-forward 96 --context 64 -q
"$ingot" quantize model.gguf small.gguf Q4_0 -q
"$ingot" quantize model.gguf large.gguf Q8_0 -q
for i in {1..60}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt

# A model does not diverge from itself; a smaller one diverges more than a larger one.
"$ingot" evaluate model.gguf model.gguf large.gguf small.gguf --text text.txt --chunks 6 --json >all.json
python '
import json
all = json.load(open("all.json"))
assert all["chunk_tokens"] == 64 and all["chunk_count"] == 6 and all["scored_tokens"] == 6 * 31
same, large, small = all["others"]
assert same["kl"] == 0 and same["same_top"] == 1 and same["perplexity_ratio"] == 1
assert 0 < large["kl"] < small["kl"] and large["kl_error"] > 0
assert len(small["chunk_kl"]) == 6
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

# What cannot be evaluated.
expect 2 "$ingot" evaluate model.gguf
expect 2 "$ingot" evaluate model.gguf --text text.txt --markdown --json
echo short >short.txt
expect 2 "$ingot" evaluate model.gguf --text short.txt
"$ingot" edit small.gguf -o other.gguf --set general.architecture=mamba -q
expect 2 "$ingot" evaluate model.gguf other.gguf --text text.txt 2>message
grep -q '^ingot: other.gguf: .*mamba.*known are llama' message || fail "it does not name the model"

# Importances: both formats hold the same, and quantizing takes them.
"$ingot" imatrix collect model.gguf --text text.txt --chunks 4 -o matrix.gguf
"$ingot" imatrix collect model.gguf --text text.txt --chunks 4 -o matrix.dat
for file in matrix.gguf matrix.dat; do
  "$ingot" imatrix show "$file" --model model.gguf >shown
  grep -q '^14 entries, 4 chunks of .* tokens, from text.txt$' shown || fail "$file holds something else"
  grep -q '^14 tensors of the model have data.$' shown || fail "$file misses tensors"
done
"$ingot" quantize model.gguf with.gguf Q4_0 --imatrix matrix.gguf -q
expect 2 "$ingot" imatrix collect model.gguf --text text.txt -o matrix.gguf
expect 2 "$ingot" imatrix collect model.gguf --text text.txt -o model.gguf --force
expect 2 "$ingot" imatrix collect model.gguf -o new.gguf
expect 2 "$ingot" imatrix show matrix.gguf --text text.txt
