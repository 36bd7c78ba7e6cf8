# SPDX-License-Identifier: MIT
# Texts to ids and back. The ids themselves: tests/tokenizer.
"$ingot" sample spm.gguf -q
"$ingot" edit spm.gguf --in-place --set tokenizer.ggml.add_bos_token=true -q
"$ingot" sample bpe.gguf --arch qwen2 -q

"$ingot" tokenize spm.gguf 'Hello world'
"$ingot" tokenize spm.gguf 'Hello world' --ids --no-special
"$ingot" tokenize spm.gguf 'Hello world' --count
"$ingot" tokenize spm.gguf 'Hello world' --json
"$ingot" tokenize bpe.gguf $'a\xc3\xa9\xff' --offsets
"$ingot" tokenize bpe.gguf $'a\xc3\xa9' --offsets --json
"$ingot" tokenize bpe.gguf 'one two' --pieces
"$ingot" tokenize bpe.gguf 'one two' --count --json

# Empty text has what the file adds, and nothing without it.
[[ $("$ingot" tokenize spm.gguf '') == 1 ]] || fail "no bos alone"
[[ -z $("$ingot" tokenize spm.gguf '' --no-special) ]] || fail "ids of nothing"

# A file and standard input are taken byte for byte; an argument is literal unless -e is given.
printf 'a\\nb\n' >text
for source in "-f text" "-"; do
  # shellcheck disable=SC2086
  "$ingot" tokenize bpe.gguf $source <text >ids
  [[ $(<ids) == $("$ingot" tokenize bpe.gguf $'a\\nb\n') ]] || fail "$source: $(<ids)"
done
[[ $("$ingot" tokenize bpe.gguf 'a\nb\x41' -e) == $("$ingot" tokenize bpe.gguf $'a\nbA') ]]
expect_error 2 'is no escape' "$ingot" tokenize bpe.gguf 'a\qb' -e
expect_error 2 'files are taken as they are' "$ingot" tokenize bpe.gguf -f text -e
# A text that is the name of a file is that text, and the file is told of.
"$ingot" tokenize bpe.gguf text >ids 2>said
grep -q '^ingot: text: note: .*-f reads the file$' said || fail "no hint: $(cat said)"
[[ $(<ids) == $(cd / && "$ingot" tokenize "$OLDPWD/bpe.gguf" text) ]] || fail "not the text: $(<ids)"
"$ingot" tokenize bpe.gguf text -q 2>&1 >/dev/null | cmp - /dev/null || fail "a hint for --quiet"
"$ingot" tokenize bpe.gguf -f text 2>&1 >/dev/null | cmp - /dev/null || fail "a hint for a file"

# Special tokens are plain text unless they are asked for.
[[ $("$ingot" tokenize bpe.gguf '<|im_end|>' --count) -gt 1 ]]
[[ $("$ingot" tokenize bpe.gguf '<|im_end|>' --parse-special) == 1023 ]]
"$ingot" tokenize spm.gguf '<s>a' --parse-special 2>remark >ids
grep -q 'begins with the bos token' remark || fail "no remark: $(<remark)"
[[ $(<ids) == '1 1 '* ]] || fail "one bos: $(<ids)"

# There and back.
text=$'Hello  world, \xc3\xa9 \xf0\x9f\x98\x80\n\tEnd'
for model in spm.gguf bpe.gguf; do
  "$ingot" tokenize "$model" "$text" --no-special >ids
  [[ $("$ingot" detokenize "$model" - <ids) == "$text" ]] || fail "$model: not the same text"
  # shellcheck disable=SC2046
  [[ $("$ingot" detokenize "$model" $(<ids)) == "$text" ]] || fail "$model: arguments"
  "$ingot" tokenize "$model" "$text" --no-special --json |
    python 'import json, sys; print(json.load(sys.stdin)["ids"])' >list
  [[ $("$ingot" detokenize "$model" -f list) == "$text" ]] || fail "$model: a JSON list"
done
[[ $("$ingot" detokenize spm.gguf 1 260) == '<s>'* ]] || fail "special tokens are hidden"
[[ $("$ingot" detokenize spm.gguf 1 260 --no-special) != *'<s>'* ]] || fail "they are shown"
"$ingot" detokenize bpe.gguf 64 --json

# Colours on a terminal, or on request.
"$ingot" tokenize bpe.gguf 'a b' --pieces --color always >colours
[[ $(<colours) == *$'\e['*a*$'\e[0m'* ]] || fail "no colours"
[[ $(wc -l <colours) == 1 ]] || fail "more than one line"

# Wrong usage, and what is refused.
expect_error 2 'TEXT is missing' "$ingot" tokenize bpe.gguf
expect_error 2 'not both' "$ingot" tokenize bpe.gguf a -f text
expect_error 2 'give one of' "$ingot" tokenize bpe.gguf a --count --pieces
expect_error 2 'no pre-tokenizer "x"' "$ingot" tokenize bpe.gguf a --pre x
expect_error 4 'No such file' "$ingot" tokenize bpe.gguf -f missing
expect_error 2 'it is no token id' "$ingot" detokenize bpe.gguf 1 x
expect_error 2 'out of range' "$ingot" detokenize bpe.gguf 1024
expect_error 2 'give ids' "$ingot" detokenize bpe.gguf
"$ingot" edit bpe.gguf --set tokenizer.ggml.pre=unheardof -o odd.gguf -q
expect_error 3 'unheardof' "$ingot" tokenize odd.gguf a
[[ $("$ingot" tokenize odd.gguf a --pre qwen2) == $("$ingot" tokenize bpe.gguf a) ]]
"$ingot" edit bpe.gguf --remove tokenizer.ggml.pre -o old.gguf -q
"$ingot" tokenize old.gguf a 2>remark >/dev/null
grep -q 'no tokenizer.ggml.pre' remark || fail "no remark on a missing pre-tokenizer"
"$ingot" show odd.gguf | grep -q 'pre unheardof (unknown)' || fail "show: unknown"
"$ingot" show old.gguf | grep -q 'no pre-tokenizer' || fail "show: none"
"$ingot" show bpe.gguf | grep -q 'pre qwen2 (known)' || fail "show: known"
