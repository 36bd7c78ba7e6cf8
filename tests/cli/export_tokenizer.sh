# SPDX-License-Identifier: MIT
# The files of Hugging Face's libraries. Whether they give the same ids: tests/tokenizer.
"$ingot" sample spm.gguf --vocab 300 -q
"$ingot" sample bpe.gguf --arch qwen2 --vocab 300 -q
for model in spm bpe; do
  "$ingot" export-tokenizer $model.gguf $model 2>remarks
  (cd $model && ls)
  for file in tokenizer tokenizer_config special_tokens_map; do
    python3 -m json.tool $model/$file.json >/dev/null || fail "$model/$file.json: no JSON"
  done
  "$ingot" metadata $model.gguf --raw tokenizer.chat_template >template
  expect_same template $model/chat_template.jinja
  python '
import json, sys
name = sys.argv[1]
document = json.load(open(f"{name}/tokenizer.json", encoding="utf-8"))
vocabulary = document["model"]["vocab"]
assert len(vocabulary) == 300 and sorted(vocabulary.values()) == list(range(300))
for left, right in document["model"]["merges"]:
    assert left in vocabulary and right in vocabulary and left + right in vocabulary
special = {token["content"] for token in document["added_tokens"] if token["special"]}
configuration = json.load(open(f"{name}/tokenizer_config.json"))
assert configuration["eos_token"] in special and configuration["model_max_length"] == 2048
' $model
done

# A file by name; nothing is replaced without --force.
"$ingot" export-tokenizer bpe.gguf other/bpe.json -q
expect_same other/bpe.json bpe/tokenizer.json
expect_error 2 'the file exists' "$ingot" export-tokenizer bpe.gguf bpe
"$ingot" export-tokenizer spm.gguf bpe --force -q
expect_same bpe/tokenizer.json spm/tokenizer.json

# What has no such form is refused by name.
for family in rwkv hybriddna whitespace none; do
  "$ingot" edit bpe.gguf --set tokenizer.ggml.model=$family -o odd.gguf -q --force
  expect_error 3 "" "$ingot" export-tokenizer odd.gguf odd
  "$ingot" export-tokenizer odd.gguf odd 2>message || true
  grep -qi "$family" message || fail "$family: $(<message)"
  [[ ! -e odd ]] || fail "$family: something was written"
done
"$ingot" edit spm.gguf --set tokenizer.ggml.model=plamo2 -o odd.gguf -q --force
expect_error 3 'PLaMo-2' "$ingot" export-tokenizer odd.gguf odd
python '
data = open("spm.gguf", "rb").read()
symbol = b"\3\0\0\0\0\0\0\0\xe2\x96\x81"
assert symbol in data
open("torn.gguf", "wb").write(data.replace(symbol, symbol[:8] + b"\xe2\x96!", 1))
'
expect_error 3 'is "\xe2\x96!"' "$ingot" export-tokenizer torn.gguf odd

# The files of one run: a template that the model has not goes, and of two runs at once the files are
# those of one. $INGOT_ROUNDS: how often; 100 in scripts/nightly.
"$ingot" edit bpe.gguf --remove tokenizer.chat_template -o plain.gguf -q
"$ingot" export-tokenizer plain.gguf plain -q
"$ingot" export-tokenizer spm.gguf both -q
echo kept >both/notes.txt
expect_error 2 'the file exists' "$ingot" export-tokenizer plain.gguf both -q
"$ingot" export-tokenizer plain.gguf both --force -q
[[ $(cd both && ls -A) == $'notes.txt\nspecial_tokens_map.json\ntokenizer.json\ntokenizer_config.json' ]] ||
  fail "$(ls -A both)"
mkdir only && cp spm/chat_template.jinja only
expect_error 2 'chat_template.jinja' "$ingot" export-tokenizer plain.gguf only -q
[[ $(ls -A only) == chat_template.jinja ]] || fail "$(ls -A only)"
check_one_run() {
  local run name
  for run in spm plain; do
    for name in chat_template.jinja special_tokens_map.json tokenizer.json tokenizer_config.json; do
      if [[ -e $run/$name ]]; then cmp -s both/$name $run/$name; else [[ ! -e both/$name ]]; fi || continue 2
    done
    return 0
  done
  fail "of both: $(cd both && sha256sum ./*)"
}
"$ingot" export-tokenizer spm.gguf spm --force -q
for ((round = 1; round <= ${INGOT_ROUNDS:-5}; ++round)); do
  ((round % 2)) || rm -f both/*
  "$ingot" export-tokenizer spm.gguf both --force -q &
  "$ingot" export-tokenizer plain.gguf both --force -q
  wait $!
  check_one_run
done

"$ingot" sample named.gguf -q
"$ingot" export-tokenizer named.gguf -o by-option/
[[ -e by-option/tokenizer.json ]] || fail "-o"
expect_error 2 'OUT is missing' "$ingot" export-tokenizer named.gguf
