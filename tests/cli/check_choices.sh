# SPDX-License-Identifier: MIT
# What a gate lets pass: --fail-on, --ignore, --only; the category of findings.
"$ingot" sample good.gguf -q
# A template that reaches out, which is of the category security, and a key that is just odd.
"$ingot" edit good.gguf -o both.gguf --set tokenizer.chat_template='{% for m in messages %}{{ m.content[0].text or m.content }}{% endfor %}{% if false %}{{ eos_token.__class__ }}{% endif %}' \
  --set Odd.Key:bool=true -q
"$ingot" edit good.gguf -o odd.gguf --set Odd.Key:bool=true -q

status() { local status=0; "$ingot" check "$@" >/dev/null || status=$?; echo "$status"; }
[[ $(status both.gguf) == 1 ]] || fail "warnings"
[[ $(status --fail-on error both.gguf) == 0 ]] || fail "no error"
[[ $(status --fail-on security both.gguf) == 1 ]] || fail "security"
[[ $(status --fail-on security odd.gguf) == 0 ]] || fail "no security"
[[ $(status --fail-on error,security both.gguf) == 1 ]] || fail "one of two, with a comma"
[[ $(status --fail-on error --fail-on security both.gguf) == 1 ]] || fail "one of two"
[[ $(status --fail-on error,security odd.gguf) == 0 ]] || fail "neither"
[[ $(status --fail-on security --strict odd.gguf) == 0 ]] || fail "strict is about warnings"
head -c 1000 good.gguf >cut.gguf
[[ $(status --fail-on error cut.gguf) == 3 ]] || fail "a refusal is one whatever fails"

[[ $(status --ignore key_syntax odd.gguf) == 0 ]] || fail "ignored"
[[ $(status --ignore key_syntax both.gguf) == 1 ]] || fail "another rule"
[[ $(status --ignore key_syntax,template_unsafe both.gguf) == 0 ]] || fail "two ignored"
[[ $(status --only template_unsafe odd.gguf) == 0 ]] || fail "only another"
[[ $(status --only template_unsafe both.gguf) == 1 ]] || fail "only this"
[[ $(status --only template_unsafe cut.gguf) == 3 ]] || fail "a refusal among rules"

expect_error 2 'error, warning and security' "$ingot" check --fail-on notes good.gguf
expect_error 2 'there is no rule "key_sintax"' "$ingot" check --ignore key_sintax good.gguf
expect_error 2 'there is no rule' "$ingot" check --only nothing good.gguf
expect_error 2 'data_not_finite goes with --data' "$ingot" check --only data_not_finite good.gguf
expect_error 2 'cannot be ignored' "$ingot" check --ignore truncated good.gguf

"$ingot" check --json both.gguf >both.json || true
"$ingot" check --sarif both.gguf >both.sarif || true
"$ingot" check --list-rules --json >rules.json
python '
import json
found = {finding["rule"]: finding["category"] for finding in json.load(open("both.json"))["findings"]}
assert found == {"key_syntax": "conformance", "template_unsafe": "security"}, found
assert json.load(open("both.json"))["security"] == 1
run, = json.load(open("both.sarif"))["runs"]
tags = {result["ruleId"]: result["properties"]["tags"] for result in run["results"]}
assert tags["template_unsafe"] == ["security"], tags
rules = {rule["rule"]: rule for rule in json.load(open("rules.json"))}
assert rules["token_id_range"]["category"] == "security" and rules["token_id_range"]["source"] == "convention"
assert rules["key_syntax"]["severity"] == "warning" and rules["key_syntax"]["category"] == "conformance"
'
