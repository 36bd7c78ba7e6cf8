# SPDX-License-Identifier: MIT
# Print and list the templates of a model, byte for byte.
"$ingot" sample model.gguf -q
printf '{{ 1 }}\r\n\x1b' >default.jinja
printf 'with tools' >tools.jinja
"$ingot" edit model.gguf -o named.gguf -q --set-file tokenizer.chat_template=default.jinja \
  --set-file tokenizer.chat_template.tool_use:string=tools.jinja
"$ingot" chat-template named.gguf | cmp - default.jinja
"$ingot" chat-template named.gguf --name tool_use | cmp - tools.jinja
"$ingot" chat-template named.gguf --list
"$ingot" chat-template named.gguf --list --json
"$ingot" chat-template named.gguf --name tool_use --json

# With tools, the template for tools renders.
"$ingot" chat named.gguf --user Hi --tools <(echo '[{"name": "f"}]')
echo

expect_error 1 'no chat template "tool"; did you mean "tool_use"?' \
  "$ingot" chat-template named.gguf --name tool
"$ingot" edit model.gguf -o none.gguf -q --remove tokenizer.chat_template
expect_error 1 'it has no chat template' "$ingot" chat-template none.gguf
expect_error 3 'it has no chat template' "$ingot" chat none.gguf --user Hi
expect 1 "$ingot" chat-template none.gguf --list --json

# A template that cannot be read is not written.
printf 'one\n{%% if x %%}' >syntax.jinja
expect 3 "$ingot" edit named.gguf -o refused.gguf -q --chat-template-file syntax.jinja 2>&1
[[ ! -e refused.gguf ]] || fail "a template that cannot be read was written"
expect 3 "$ingot" edit named.gguf --in-place -q --chat-template '{{' 2>/dev/null
"$ingot" chat-template named.gguf | cmp - default.jinja
"$ingot" edit named.gguf --in-place -q --chat-template-file tools.jinja
"$ingot" chat-template named.gguf | cmp - tools.jinja
"$ingot" edit named.gguf -o unchecked.gguf -q --set-file tokenizer.chat_template=syntax.jinja

# What it supports; what check says.
printf '%s' '{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}{% endfor %}' \
  '{% if tools %}{{ tools }}{% endif %}' >lacking.jinja
"$ingot" edit model.gguf -o lacking.gguf -q --chat-template-file lacking.jinja
"$ingot" show lacking.gguf | grep -A1 '^template'
"$ingot" show unchecked.gguf | grep -A1 '^template'
"$ingot" show lacking.gguf --json |
  python 'import json, sys; print(json.load(sys.stdin)["tokenizer"]["chat_features"])'
expect 1 "$ingot" check lacking.gguf
expect 1 "$ingot" check unchecked.gguf --only template_syntax
"$ingot" check model.gguf
"$ingot" check lacking.gguf --only template_differs --chat-template-file lacking.jinja
"$ingot" check lacking.gguf --only template_differs --chat-template-file tools.jinja
expect_error 4 'nowhere.jinja' "$ingot" check lacking.gguf --chat-template-file nowhere.jinja

# Lists that share their parts have 2^60 leaves: a look at such a template has limits, and says so.
printf '%s' '{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}' \
  '{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}' >shared.jinja
"$ingot" edit model.gguf -o shared.gguf -q --chat-template-file shared.jinja
"$ingot" show shared.gguf >shown.txt
grep -q 'takes too long to be tried in full' shown.txt || fail "show does not tell of a limit"
"$ingot" show shared.gguf --json | grep -q '"chat_features_complete": false' ||
  fail "the JSON of show does not tell of a limit"
"$ingot" check shared.gguf >checked.txt || true
grep -q 'template_limit' checked.txt || fail "check does not tell of a limit"
expect 3 "$ingot" chat shared.gguf --user Hi 2>/dev/null

# For Ollama: the same prompts, or no template. The prompts of both are compared before one is printed.
"$ingot" chat-template model.gguf --format ollama
"$ingot" chat-template model.gguf --format ollama --json
printf '%s' "{{ bos_token }}{% for m in messages %}{% if loop.first and m.role == 'system' %}" \
  "{{ m.content }}{% else %}{{ '<start_of_turn>' + m.role + '\n' + m.content | trim + '<end_of_turn>\n' }}" \
  "{% endif %}{% endfor %}{% if tools %}{{ tools }}{% endif %}<start_of_turn>assistant{{ '\n{{' }}" >trims.jinja
"$ingot" edit model.gguf -o trims.gguf -q --chat-template-file trims.jinja --set tokenizer.ggml.add_bos_token=true
"$ingot" chat-template trims.gguf --format ollama 2>message
grep -q 'left out: tools' message || fail "it says: $(cat message)"
grep -q 'blanks around a message stay' message || fail "it says: $(cat message)"
printf '%s' '{% for m in messages %}{{ m.content | upper }}{% endfor %}' >upper.jinja
printf '%s' '{% for m in messages %}{{ loop.index }}{{ m.content }}{% endfor %}' >counts.jinja
printf '%s' '{{ strftime_now("%d") }}{% for m in messages %}|{{ m.content }}{% endfor %}' >dates.jinja
for name in upper counts dates; do
  "$ingot" edit model.gguf -o "$name.gguf" -q --chat-template-file "$name.jinja"
  expect_error 1 'no template for Ollama: ' "$ingot" chat-template "$name.gguf" --format ollama
done
