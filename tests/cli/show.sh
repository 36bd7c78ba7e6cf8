# SPDX-License-Identifier: MIT
# The page about a model: one screen, at most 80 columns, no noise.
"$ingot" sample llama.gguf -q
"$ingot" sample qwen.gguf --arch qwen2 --type BF16 --endian big -q
"$ingot" sample moe.gguf --experts 4 --layers 1 --embedding 64 --feed-forward 96 -q
"$ingot" show llama.gguf qwen.gguf moe.gguf

# Nothing else is ever on stderr, and no line is too long where the terminal is wide.
COLUMNS=200 "$ingot" show llama.gguf qwen.gguf moe.gguf 2>errors >wide
[[ ! -s errors ]] || fail "stderr: $(cat errors)"
awk 'length > 80 { exit 1 }' wide || fail "a line is longer than 80 columns"
COLUMNS=60 "$ingot" show llama.gguf qwen.gguf moe.gguf | awk 'length > 60 { exit 1 }' ||
  fail "a line is longer than the terminal"

# What fit assumes without --ctx-size is the model's own context.
"$ingot" sample long.gguf --context 65536 -q
"$ingot" show long.gguf | tr -s '\n ' ' ' >long.txt
grep -q 'card for 8,192 tokens, [0-9]* GB for its own 65,536' long.txt || fail "$(cat long.txt)"
