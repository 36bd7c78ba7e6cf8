# SPDX-License-Identifier: MIT
# Models that make vectors of texts, compared on a text.
"$ingot" sample model.gguf --architecture bert -q
"$ingot" edit model.gguf --in-place --set tokenizer.ggml.add_bos_token=true \
  --set tokenizer.ggml.add_eos_token=true -q
"$ingot" quantize model.gguf small.gguf Q4_0 -q
"$ingot" quantize model.gguf large.gguf Q8_0 -q
for i in {1..20}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt
head -c 300 text.txt >short.txt

# A text that fits the context is one chunk, with the tokens that the tokenizer adds.
"$ingot" evaluate model.gguf model.gguf large.gguf small.gguf --text short.txt --json >one.json
"$ingot" tokenize model.gguf --file short.txt --json >tokens.json
python '
import json
one = json.load(open("one.json"))
assert one["chunk_count"] == 1 and one["pooling"] == "mean" and "perplexity" not in one["base"]
ids = json.load(open("tokens.json"))["ids"]
assert len(ids) > 50 and one["chunk_tokens"] == len(ids), one["chunk_tokens"]
same, large, small = one["others"]
assert same["cosine_distance"] == 0 and 0 < large["cosine_distance"] < small["cosine_distance"] < 1
assert small["cosine_distance_error"] is None and small["same_neighbour"] is None
assert small["chunk_cosine_distances"] == [small["cosine_distance"]]
'
# A longer one is cut, and each chunk has these tokens.
"$ingot" evaluate model.gguf large.gguf small.gguf --text text.txt --ctx-size 40 --json >many.json
"$ingot" evaluate model.gguf small.gguf --text text.txt --ctx-size 40 --chunks 4 --json >four.json
python '
import json
many, four = json.load(open("many.json")), json.load(open("four.json"))
assert many["chunk_tokens"] == 40 and many["chunk_count"] > 4 and four["chunk_count"] == 4
large, small = many["others"]
chunks = small["chunk_cosine_distances"]
assert abs(small["cosine_distance"] - sum(chunks) / len(chunks)) < 1e-12
assert four["others"][0]["chunk_cosine_distances"] == chunks[:4]
assert 0 <= small["same_neighbour"] <= 1 and small["neighbour_order"] <= large["neighbour_order"] <= 1
difference, = many["differences"]
assert abs(difference["cosine_distance"] - (large["cosine_distance"] - small["cosine_distance"])) < 1e-12
'
"$ingot" evaluate model.gguf small.gguf --text text.txt --ctx-size 40 --chunks 4 --by-chunk --report page.html >page
grep -q '^small.gguf ' page || fail "no line of the model"
grep -q 'chunks of 40 tokens of text.txt, vectors of 256 elements, pooling mean$' page || fail "no basis"
grep -q '^<tr><td>small.gguf</td>' page.html || fail "no row on the page"
"$ingot" evaluate model.gguf small.gguf --text text.txt --ctx-size 40 --chunks 3 --markdown >table
grep -q '^| small.gguf | .* | .* +/- .* |' table || fail "no row of the table"

# Parts hold vectors; what joins them is what one run gives, of the vectors of tokens, too.
for i in {1..5}; do cat text.txt; done >long.txt
"$ingot" edit model.gguf -o tokens.gguf --set bert.pooling_type:u32=0 -q
for base in model tokens; do
  work=(evaluate "$base.gguf" large.gguf --text long.txt --ctx-size 40)
  [[ $base == model ]] || work[2]=tokens.gguf
  "$ingot" "${work[@]}" --json >whole.json
  "$ingot" plan-work --jobs 3 --parts "$base" -- "${work[@]}" --json >plan.json
  [[ $(python 'import json; print(len(json.load(open("plan.json"))["tasks"]))') == 3 ]] || fail "not three tasks"
  "$ingot" run-work plan.json -q >joined.json
  expect_same whole.json joined.json
done
sed -i 's/"models"/"others"/' tokens/1.json
expect_error 3 'no "chunk_losses"' "$ingot" "${work[@]}" --join tokens/1.json --join tokens/2.json --join tokens/3.json

# Pooling changes the vectors.
for kind in 0 2 3; do
  "$ingot" edit model.gguf -o "pool$kind.gguf" --set bert.pooling_type:u32=$kind -q
  "$ingot" edit small.gguf -o "small$kind.gguf" --set bert.pooling_type:u32=$kind -q
  "$ingot" evaluate "pool$kind.gguf" "small$kind.gguf" --text short.txt --json >"pool$kind.json"
done
python '
import json
found = [json.load(open(f"pool{kind}.json")) for kind in (0, 2, 3)]
assert [each["pooling"] for each in found] == ["none", "first", "last"]
assert len({each["others"][0]["cosine_distance"] for each in found}) == 3
'

# Importances, with fewer than a chunk of text, too; sensitivities need predictions.
"$ingot" imatrix collect model.gguf --text short.txt -o matrix.gguf
"$ingot" imatrix show matrix.gguf --model model.gguf >shown || fail "tensors without data"
"$ingot" quantize model.gguf with.gguf Q4_0 --imatrix matrix.gguf -q
expect_error 3 'predicts no tokens' "$ingot" sensitivity model.gguf --text text.txt

# A model that predicts tokens is no encoder, even if it is told so.
"$ingot" sample llama.gguf --layers 1 -q
"$ingot" edit llama.gguf --in-place --set llama.attention.causal=false -q
expect_error 3 'llama.attention.causal' "$ingot" evaluate llama.gguf --text text.txt
# One with a pooling has vectors beside another, and a perplexity alone.
"$ingot" sample embeds.gguf --layers 1 -q
"$ingot" edit embeds.gguf --in-place --set llama.pooling_type:u32=3 -q
"$ingot" quantize embeds.gguf embeds8.gguf Q8_0 -q
"$ingot" evaluate embeds.gguf --text short.txt --ctx-size 16 --json | grep -q '"perplexity"' || fail "no perplexity"
"$ingot" evaluate embeds.gguf embeds8.gguf --text short.txt --json | grep -q '"cosine_distance"' ||
  fail "no vectors"
