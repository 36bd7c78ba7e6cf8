# SPDX-License-Identifier: MIT
# A model folder becomes one file, shards, or a quantized model without the file in between.
python3 "$tests/make_model_folder.py" Tiny-Llama

# A file: by OUT, by the name that the model suggests, by --outfile; --dry-run writes nothing.
"$ingot" convert Tiny-Llama whole.gguf
"$ingot" show whole.gguf --json | python 'import json, sys
model = json.load(sys.stdin)["model"]
assert model["architecture"] == "llama" and model["file_type"] == "BF16", model'
mkdir models
"$ingot" convert Tiny-Llama models
expect_same whole.gguf models/Tiny-Llama-*BF16.gguf
"$ingot" convert Tiny-Llama --outfile 'tiny-{ftype}.gguf' --outtype q8_0
[[ -e tiny-q8_0.gguf ]] || fail "no tiny-q8_0.gguf"
expect_error 2 'whole.gguf' "$ingot" convert Tiny-Llama whole.gguf
"$ingot" convert Tiny-Llama planned.gguf --plan --json >plan.json
[[ ! -e planned.gguf ]] || fail "--plan wrote a file"
python 'import json, os
plan = json.load(open("plan.json"))
assert plan["file"] == "Tiny-Llama" and plan["outputs"] == ["planned.gguf"], plan
assert plan["type"] == "BF16" and plan["bytes"] == os.path.getsize("whole.gguf")
tensors = {tensor["name"]: tensor for tensor in plan["tensors"]}
query = tensors["blk.1.attn_q.weight"]
assert query["transform"] == "rope_pairs" and query["shape"] == [64, 64]
assert query["from"] == ["model.layers.1.self_attn.q_proj.weight"]
origins = {key["key"]: key["from"] for key in plan["keys"]}
assert origins["llama.embedding_length"] == "config.json"'
"$ingot" convert Tiny-Llama --plan | grep -q 'rope_pairs' || fail "no transform in the plan"

# Shards: the names and bytes of a split of the file; one alone is the same.
"$ingot" convert Tiny-Llama cut.gguf --max-size 60K --json >cut.json
"$ingot" split whole.gguf split --max-size 60K -q
shards=(split-0*.gguf)
((${#shards[@]} > 2)) || fail "only ${#shards[@]} shards"
for shard in "${shards[@]}"; do expect_same "$shard" "${shard/split/cut}"; done
python 'import json, os, sys
written = json.load(open("cut.json"))
assert written["outputs"] == [name.replace("split", "cut") for name in sys.argv[1:]], written
assert written["bytes"] == sum(os.path.getsize(name) for name in written["outputs"])' "${shards[@]}"
expect_error 2 'cut-00001-of-' "$ingot" convert Tiny-Llama cut.gguf --max-size 60K
"$ingot" convert Tiny-Llama third.gguf --shard 2/3
"$ingot" split whole.gguf thirds --shards 3 -q
expect_same third-00002-of-00003.gguf thirds-00002-of-00003.gguf
[[ ! -e third-00001-of-00003.gguf ]] || fail "more shards than asked for"
expect_error 2 'the I-th of N shards' "$ingot" convert Tiny-Llama third.gguf --shard 4/3

# Quantizing a folder gives the bytes of the two steps, with a matrix and in shards too.
"$ingot" quantize whole.gguf expected.gguf Q4_K_M -q
"$ingot" quantize Tiny-Llama/ got.gguf Q4_K_M -q
expect_same expected.gguf got.gguf
"$ingot" quantize Tiny-Llama/ Q8_0 Q5_0 -q
"$ingot" quantize whole.gguf Q8_0 Q5_0 -q
for type in Q8_0 Q5_0; do expect_same "Tiny-Llama-$type.gguf" "whole-$type.gguf"; done
"$ingot" quantize Tiny-Llama got.gguf Q4_K_M --shard 1/2 -q
"$ingot" quantize whole.gguf expected.gguf Q4_K_M --shard 1/2 -q
expect_same expected-00001-of-00002.gguf got-00001-of-00002.gguf
expect_error 2 'it is an input' \
  "$ingot" quantize Tiny-Llama Tiny-Llama/model.safetensors Q8_0 --force
expect_error 2 'for model folders' "$ingot" quantize whole.gguf out.gguf Q8_0 --pre gpt-2

# One line tells what came of it; a folder as OUT gets a file with the name and type of the model.
"$ingot" convert Tiny-Llama line.gguf --type f16 >line
grep -q '^wrote line.gguf (.*): F16.*, [0-9]* tensors' line || fail "$(cat line)"
"$ingot" convert Tiny-Llama -o made/ --type q8_0 -q
[[ $(ls made) == Tiny-Llama*-Q8_0.gguf ]] || fail "$(ls made)"

# What a folder does not have, it cannot become.
expect_error 2 'no meaning for a model folder' "$ingot" convert Tiny-Llama out.gguf --gguf-version 2
rm Tiny-Llama/tokenizer.json
expect_error 3 'no tokenizer' "$ingot" quantize Tiny-Llama out.gguf Q4_K_M
[[ ! -e out.gguf ]] || fail "out.gguf is there"
