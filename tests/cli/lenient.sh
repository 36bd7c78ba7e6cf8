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

# A name that is too long in GGUF is none in safetensors.
python '
import json, struct
name = "model." + "n" * 80
header = json.dumps({name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
open("long.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(8))
'
"$ingot" tensors long.safetensors --json | grep -q '"model.nnn' || fail "long names are refused"
"$ingot" check long.safetensors >/dev/null
# Nobody reads a name of so many bytes, for each finding again.
python '
import json, struct
tensors = {letter * 60_000: {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]}
           for i, letter in enumerate("nN")}
header = json.dumps(tensors).encode()
open("huge.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<4f", *[float("nan")] * 4))
'
expect 1 "$ingot" check huge.safetensors --data >said
grep -q 'nnn\.\.\.' said || fail "the names are not there"
(($(wc -c <said) < 10000)) || fail "$(wc -c <said) bytes of names"
rm huge.safetensors
"$ingot" convert long.safetensors same.safetensors
"$ingot" diff long.safetensors same.safetensors >/dev/null
for command in "convert long.safetensors out.gguf" "quantize long.safetensors out.gguf Q8_0 --override-kv general.architecture=str:llama"; do
  # shellcheck disable=SC2086  # words
  expect_error 3 'at most 64 bytes (found 86)' "$ingot" $command
  # shellcheck disable=SC2086
  expect_error 3 '"model.nnn' "$ingot" --lenient $command
  [[ ! -e out.gguf ]] || fail "$command wrote a file"
done
