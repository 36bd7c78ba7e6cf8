# SPDX-License-Identifier: MIT
# The projector of a model folder becomes a file of its own, alone or beside the model.
python3 "$tests/make_vision_folder.py" Tiny-Vision

"$ingot" convert Tiny-Vision --mmproj projector.gguf
"$ingot" metadata projector.gguf --json | grep -q '"pixtral"' || fail "no type of a projector"
"$ingot" tensors projector.gguf | grep -q 'v.blk.1.attn_q.weight' || fail "no encoder"
mkdir alone
"$ingot" convert Tiny-Vision alone --mmproj --type f16 -q
[[ $(ls alone) == mmproj-Tiny-Vision-F16.gguf ]] || fail "$(ls alone)"
"$ingot" convert Tiny-Vision --mmproj --dry-run | grep -q 'rope_pairs' || fail "no plan"

# Both, into a folder that is made; what belongs to neither is said.
"$ingot" convert Tiny-Vision both --with-mmproj --json >both.json 2>notes
python 'import json, os
both = json.load(open("both.json"))
paths = both["outputs"] + both["mmproj"]["outputs"]
assert sorted(os.path.basename(path) for path in paths) == sorted(os.listdir("both")), paths
assert os.path.getsize(paths[0]) == both["bytes"], both
assert os.path.getsize(paths[1]) == both["mmproj"]["bytes"], both'
grep -q 'in neither file: talker: 1 tensor$' notes || fail "$(cat notes)"
expect_same projector.gguf both/mmproj-*.gguf
"$ingot" convert Tiny-Vision model.gguf -q
expect_same model.gguf both/Tiny-*Vision-*.gguf
expect_error 2 'both/Tiny-' "$ingot" convert Tiny-Vision both --with-mmproj -q
"$ingot" convert Tiny-Vision both --with-mmproj --force >lines
(($(wc -l <lines) == 2)) || fail "$(cat lines)"

expect_error 2 'OUT is their folder' "$ingot" convert Tiny-Vision out.gguf --with-mmproj
expect_error 2 'give --mmproj or --with-mmproj' "$ingot" convert Tiny-Vision a --mmproj --with-mmproj
expect_error 2 'no meaning for gguf' "$ingot" convert model.gguf out.gguf --mmproj
python3 "$tests/make_model_folder.py" Tiny-Llama
expect_error 3 'projectors are known of' "$ingot" convert Tiny-Llama out.gguf --mmproj
expect_error 3 'projectors are known of' "$ingot" convert Tiny-Llama text --with-mmproj
[[ ! -e out.gguf && ! -e text ]] || fail "something was written"
