# SPDX-License-Identifier: MIT
# Known findings: written by the command, read again, and nothing else hides behind them.
"$ingot" sample good.gguf -q
mkdir models
# Templates that reach out, in a branch that no conversation takes.
reaching() {
  printf '{%% for m in messages %%}{{ m.content[0].text or m.content }}{%% endfor %%}'
  printf '{%% if false %%}{{ %s_token.__class__ }}{%% endif %%}' "$1"
}
"$ingot" edit good.gguf -o models/a.gguf --set tokenizer.chat_template="$(reaching x)" -q
"$ingot" edit good.gguf -o models/b.gguf --set "Odd	Key:bool=true" -q
expect 1 "$ingot" check models >/dev/null

# Writing a list is no reason to fail; the list is text.
expect 0 "$ingot" check models --write-baseline known.txt >/dev/null
[[ $(head -n 1 known.txt) == '# ingot check: known findings, version 1' ]] || fail "title"
awk -F'\t' 'NR > 1 && NF != 5 { exit 1 }' known.txt || fail "not five fields"
grep -q "^template_unsafe	models/a.gguf	key:tokenizer.chat_template	[0-9a-f]\{64\}	" known.txt ||
  fail "it holds: $(cat known.txt)"
expect_error 2 '--force' bash -c '"$1" check models --write-baseline known.txt >/dev/null' - "$ingot"
expect 0 "$ingot" check models --write-baseline known.txt --force >/dev/null

# Known findings are counted, not reported.
expect 0 "$ingot" check models --baseline known.txt
[[ $("$ingot" check models/a.gguf --baseline known.txt --json 2>/dev/null |
  python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["verdict"], r["known"], r["findings"])') == \
  'ok 1 []' ]] || fail "JSON"

# Another template in the same key, with the same message, is another finding.
"$ingot" edit models/a.gguf --in-place --set tokenizer.chat_template="$(reaching y)" -q
expect 1 "$ingot" check models --baseline known.txt >/dev/null 2>&1
# A finding that is gone is remarked.
rm models/b.gguf
"$ingot" edit models/a.gguf --in-place --set tokenizer.chat_template="$(reaching x)" -q
expect 0 "$ingot" check models --baseline known.txt 2>message >/dev/null
grep -q 'known findings were not found any more' message || fail "it says: $(cat message)"

# A refusal is never known.
head -c 1000 good.gguf >models/cut.gguf
expect 3 "$ingot" check models --write-baseline refused.txt >/dev/null
expect 3 "$ingot" check models --baseline refused.txt >/dev/null
grep -q cut.gguf refused.txt && fail "a refusal is listed" || true

expect_error 4 'No such file' "$ingot" check good.gguf --baseline missing.txt
printf '%s\nkey_syntax\n' '# ingot check: known findings, version 1' >short.txt
expect_error 2 'line 2' "$ingot" check good.gguf --baseline short.txt
expect_error 2 'line 1' "$ingot" check good.gguf --baseline good.gguf
