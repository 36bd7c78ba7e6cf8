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
