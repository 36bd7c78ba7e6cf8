# SPDX-License-Identifier: MIT
# Conversations as prompts: exact bytes, where they came from, and ids without forged control tokens.
"$ingot" sample model.gguf --arch llama -q
cat >chat.jinja <<'END'
{%- for message in messages %}
<|{{ message.role }}|>
{{ message.content }}<|end|>
{% endfor -%}
{%- if tools %}{{ tools[0].name }}{% endif %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}{{ x }}{{ strftime_now("%d %H:%M") }}
END
cat >messages.json <<'END'
[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi <|end|> \u00e4"}]
END
echo '[{"name": "clock"}]' >tools.json
now=(--now 2025-07-04T05:06:07)

"$ingot" chat --template chat.jinja messages.json "${now[@]}" >prompt
printf '<|system|>\nBe brief.<|end|>\n<|user|>\nHi <|end|> \xc3\xa4<|end|>\n<|assistant|>04 05:06' >wanted
expect_same wanted prompt
"$ingot" chat --template chat.jinja - "${now[@]}" <messages.json | cmp - wanted

# Words instead of a file; tools, variables, no generation prompt.
"$ingot" chat --template chat.jinja --user 'Hi' --system 'Be brief.' --tools tools.json \
  --set 'x={"a": [1, 12345678901234567890]}' --no-generation-prompt "${now[@]}"
echo

# An object holds all variables; what it leaves out is not there, and options change it.
echo '{"messages": [{"role": "user", "content": "Hi"}], "x": 1}' >variables.json
"$ingot" chat --template chat.jinja variables.json "${now[@]}" 2>remark
echo
grep -q 'does not set add_generation_prompt' remark || fail "no remark: $(cat remark)"
"$ingot" chat --template chat.jinja variables.json "${now[@]}" --set add_generation_prompt=true
echo

# A model brings its template, its special tokens and its tokenizer.
"$ingot" chat model.gguf --user 'a</s>b'
echo
"$ingot" chat model.gguf --user 'a</s>b' --runs
"$ingot" chat model.gguf --user 'a</s>b' --ids
"$ingot" chat model.gguf --user 'a</s>b' --ids --inputs trusted
"$ingot" chat model.gguf --user 'a</s>b' --ids --json
"$ingot" chat model.gguf --template chat.jinja --user 'a' --set 'x="</s>"' --ids "${now[@]}"

# Lists of parts: a template of images has its own marks; one of texts alone gets the engine's.
cat >parts.json <<'END'
[{"role": "user", "content": [{"type": "text", "text": "Look:"},
  {"type": "image_url", "image_url": {"url": "a.png"}}, {"type": "text", "text": "What is it?"}]}]
END
cat >sees.jinja <<'END'
{%- for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content -%}
{% if 'image' in c or 'image_url' in c %}<|image_pad|>{% else %}{{ c.text }}{% endif %}{% endfor %}{% endif %}{% endfor -%}
END
[ "$("$ingot" chat --template sees.jinja parts.json)" = 'Look:<|image_pad|>What is it?' ] ||
  fail "$("$ingot" chat --template sees.jinja parts.json)"
[ "$("$ingot" chat --template sees.jinja parts.json --join-parts)" = 'Look:<__media__>What is it?' ] ||
  fail "$("$ingot" chat --template sees.jinja parts.json --join-parts)"
"$ingot" chat --template chat.jinja parts.json "${now[@]}" | grep -qx 'Look:<__media__>What is it?<|end|>' ||
  fail "$("$ingot" chat --template chat.jinja parts.json "${now[@]}")"

# The template's own words; what else goes wrong, with its place; control characters are escaped.
printf '{{ raise_exception("roles must\\x1b[31m alternate") }}' >raises.jinja
expect_error 3 'roles must\x1b[31m alternate' "$ingot" chat --template raises.jinja --user Hi
printf 'one\n{{ messages[0].name.first }}' >undefined.jinja
expect 3 "$ingot" chat --template undefined.jinja --user Hi 2>&1
printf '{%% if x %%}' >syntax.jinja
expect 3 "$ingot" chat --template syntax.jinja --user Hi 2>&1
printf '{{ messages.append(1) }}' >appends.jinja
expect 3 "$ingot" chat --template appends.jinja --user Hi 2>&1
printf '{%% set l = [] %%}{{ l.append(1) }}{{ l }}' >appends.jinja
"$ingot" --lenient chat --template appends.jinja --user Hi
echo

# Wrong usage and inputs.
expect_error 2 'MODEL is missing' "$ingot" chat --user Hi
expect_error 2 'INPUT is missing' "$ingot" chat model.gguf
expect_error 2 'INPUT or --user' "$ingot" chat model.gguf messages.json --user Hi
expect_error 2 'too many files' "$ingot" chat model.gguf messages.json x
expect_error 2 'NAME=JSON' "$ingot" chat model.gguf --user Hi --set x
expect_error 2 'a string is written' "$ingot" chat model.gguf --user Hi --set x=abc
expect_error 2 'is no time' "$ingot" chat model.gguf --user Hi --now yesterday
expect_error 2 'ids come from its tokenizer' "$ingot" chat --template chat.jinja --user Hi --ids
expect_error 4 'No such file' "$ingot" chat model.gguf missing.json
expect_error 4 'No such file' "$ingot" chat --template missing.jinja --user Hi
expect_error 3 'it has no chat template "x"' "$ingot" chat model.gguf --user Hi --name x
echo '[{"role": "user"' >cut.json
expect_error 3 'not valid JSON' "$ingot" chat model.gguf cut.json
echo '"text"' >text.json
expect_error 3 'neither an array' "$ingot" chat model.gguf text.json
