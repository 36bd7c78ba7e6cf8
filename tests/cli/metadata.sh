# SPDX-License-Identifier: MIT
"$ingot" sample model.gguf --vocab 300 -q
echo "# all"
"$ingot" metadata model.gguf
echo "# some"
"$ingot" metadata model.gguf 'llama.*.head_count*' 'general.na?e' '*.[bu][no]*_token_id'
echo "# in full"
"$ingot" metadata model.gguf --full 'general.description' '*.scores'
echo "# json"
"$ingot" metadata model.gguf --json 'general.n*' '*epsilon' '*add_bos*' '*token_type'
echo "# raw"
"$ingot" metadata model.gguf --raw tokenizer.chat_template

# Bytes alone: no newline is added, numbers are as in the file.
[[ $("$ingot" metadata model.gguf --raw general.architecture | wc -c) == 5 ]] || fail "not 5 bytes"
[[ $("$ingot" metadata model.gguf --raw llama.block_count | od -An -tu4) -eq 2 ]] || fail "not 2"
[[ $("$ingot" metadata model.gguf --raw tokenizer.ggml.scores | wc -c) == 1200 ]] || fail "array"

expect_error 1 'no key matches "nothing.*"' "$ingot" metadata model.gguf 'nothing.*'
expect_error 1 'did you mean "general.name"?' "$ingot" metadata model.gguf general.nmae
expect_error 1 'did you mean "general.name"?' "$ingot" metadata model.gguf --raw general.nam
expect_error 2 '--raw prints one value alone' "$ingot" metadata model.gguf --raw general.name --json
expect 1 "$ingot" metadata model.gguf 'nothing.*' --json 2>/dev/null >none.json
[[ $(cat none.json) == '[]' ]] || fail "not an empty array"
# One glob that matches is enough, but the other one is named.
expect 0 "$ingot" metadata model.gguf 'nothing.*' general.name 2>errors >/dev/null
grep -q 'nothing' errors || fail "the glob without a match is not named"

"$ingot" metadata model.gguf --json >all.json
python '
import json
keys = {entry["key"]: entry for entry in json.load(open("all.json"))}
tokens = keys["tokenizer.ggml.tokens"]
assert tokens["type"] == "array" and tokens["element_type"] == "string"
assert tokens["count"] == len(tokens["value"]) == 300
assert tokens["value"][:4] == ["<unk>", "<s>", "</s>", "<0x00>"]
assert keys["llama.rope.freq_base"]["value"] == 10000.0
'

# A vocabulary as a file: one element a line.
"$ingot" metadata model.gguf tokenizer.ggml.tokens --lines >tokens.txt
[[ $(wc -l <tokens.txt) == 300 && $(sed -n 3p tokens.txt) == '</s>' ]] || fail "not the vocabulary"
"$ingot" metadata model.gguf tokenizer.ggml.scores --lines | sed -n 1p | grep -qx 0 || fail "no number"
expect_error 2 'is no array' "$ingot" metadata model.gguf general.name --lines
expect_error 2 'keys match' "$ingot" metadata model.gguf '*' --lines

expect_error 1 'did you mean "general.*"' "$ingot" metadata model.gguf general
