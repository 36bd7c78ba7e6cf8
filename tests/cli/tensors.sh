# SPDX-License-Identifier: MIT
"$ingot" sample model.gguf --layers 11 --embedding 32 --feed-forward 64 --vocab 300 -q
echo "# by name"
"$ingot" tensors model.gguf --sort name 'blk.*.attn_norm.weight' 'token_embd*'
echo "# the largest"
"$ingot" tensors model.gguf --sort size | head -n 3
echo "# json"
"$ingot" tensors model.gguf --json 'output*'

expect_error 1 'no tensor matches "foo"' "$ingot" tensors model.gguf foo
expect_error 1 'did you mean "output.weight"?' "$ingot" tensors model.gguf output.wieght
"$ingot" tensors model.gguf --json >all.json
python '
import json, os
tensors = json.load(open("all.json"))
assert len(tensors) == 11 * 9 + 3
for tensor in tensors:
    assert set(tensor) >= {"name", "shape", "type", "elements", "bytes", "offset", "file_offset",
                           "shard"}
    assert tensor["file_offset"] + tensor["bytes"] <= os.path.getsize("model.gguf")
embedding = tensors[0]
assert embedding["name"] == "token_embd.weight" and embedding["shape"] == [32, 300]
assert embedding["bytes"] == 2 * embedding["elements"] == 2 * 32 * 300
'
"$ingot" tensors model.gguf --json --sort offset >sorted.json
expect_same all.json sorted.json

"$ingot" sample limits.gguf -q
"$ingot" tensors limits.gguf 're:attn_(q|k)' --limit 1 --json >limited.json
python '
import json
[tensor] = json.load(open("limited.json"))
assert "attn_" in tensor["name"], tensor'
