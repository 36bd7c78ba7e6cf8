# SPDX-License-Identifier: MIT
# What only a strict reader refuses.
"$ingot" sample model.gguf --layers 1 --embedding 32 --feed-forward 64 --vocab 300 -q
# The type of the last tensor, after its name, two dimensions of 32 and 300.
before='output.weight\x02\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x2c\x01\x00\x00\x00\x00\x00\x00'
patch_file model.gguf "$before"'\x01' "$before"'\x4d'
expect_error 3 'lenient' "$ingot" show model.gguf
"$ingot" --lenient tensors model.gguf output.weight
"$ingot" show model.gguf --lenient | sed -n '/^types/,/^$/p'
"$ingot" show model.gguf --lenient --json | grep unknown
patch_file model.gguf "$before"'\x4d' "$before"'\x04'
expect_error 3 'lenient' "$ingot" show model.gguf
"$ingot" --lenient tensors model.gguf output.weight
