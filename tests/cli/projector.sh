# SPDX-License-Identifier: MIT
# Projectors: a sample of a type, what show tells of it, and whether it belongs to a model.
"$ingot" sample --architecture clip --projector qwen2.5o mmproj.gguf -q
"$ingot" check --data --strict mmproj.gguf >/dev/null
"$ingot" show mmproj.gguf >shown.txt
grep -q '^vision .*projector qwen2.5o, 2 layers, width 256, gives width 256' shown.txt || fail "$(cat shown.txt)"
grep -q '^image .*112 x 112 pixels, patches of 14 x 14, 16 tokens' shown.txt || fail "$(cat shown.txt)"
grep -q '^sound .*frames of 16 mel bins, 750 tokens for 30 seconds' shown.txt || fail "$(cat shown.txt)"
"$ingot" show --json mmproj.gguf | python '
import json, sys
projector = json.load(sys.stdin)["projector"]
assert projector["audio_output"] == 256 and projector["image_tokens"] == 16
'
"$ingot" architectures clip --json | python '
import json, sys
variants = json.load(sys.stdin)["variants"]
assert variants == sorted(variants) and {"gemma3", "mlp", "qwen3vl_merger", "ultravox"} <= set(variants)
'
"$ingot" quantize mmproj.gguf small.gguf Q4_K_M -q
"$ingot" check --data small.gguf >/dev/null
"$ingot" tensors small.gguf | grep -q '^v.patch_embd.weight .*F32' || fail "patches were quantized"
expect_error 2 'there is no sample of the projector "nope"' \
  "$ingot" sample --architecture clip --projector nope x.gguf
expect_error 2 'goes with --architecture clip only' "$ingot" sample --projector gemma3 x.gguf

"$ingot" sample model.gguf --embedding 256 -q
"$ingot" sample wide.gguf --embedding 512 -q
"$ingot" check model.gguf --with mmproj.gguf --only projector_mismatch >/dev/null
status=0
"$ingot" check wide.gguf --with mmproj.gguf >found.txt || status=$?
[ $status = 1 ] || fail "wide.gguf passes: $status"
grep -q "the projector's images have width 256, the model takes 512" found.txt || fail "$(cat found.txt)"
status=0
"$ingot" check model.gguf --with wide.gguf >found.txt || status=$?
[ $status = 1 ] || fail "a model passes as a projector: $status"
grep -q 'is no projector but "llama"' found.txt || fail "$(cat found.txt)"

# Images take tokens of the context: by the vocabulary those around them, too.
"$ingot" sample --architecture clip --projector gemma3 sees.gguf -q
"$ingot" tokenize model.gguf --with sees.gguf --image-size 640x480 --json | python '
import json, sys
image = json.load(sys.stdin)
assert image["image"]["tokens"] == 16 and image["count"] == 16 + image["mark_tokens"], image
assert image["mark_tokens"] > 2, image  # this vocabulary has no such tokens
# 12 bytes for each of 112 x 112 pixels, 5 x 256 numbers for each of 64 patches, and positions.
assert image["image"]["work_bytes"] == 12 * 112 ** 2 + 4 * 64 * 1280 + 32 * 64, image
'
[ "$("$ingot" tokenize model.gguf --with sees.gguf --image-size 1x1 --count)" -gt 16 ] || fail "no count"
"$ingot" fit model.gguf --with sees.gguf --images 3 --image-size 640x480 >page
grep -q '^images .*3 of 640 x 480 pixels, 48 of 2,048 tokens of context' page || fail "$(cat page)"
grep -q 'work space of the projector is counted for images' page || fail "no note"
"$ingot" sample --architecture clip --projector gemma3nv mobile.gguf -q
"$ingot" fit model.gguf --with mobile.gguf >page
grep -q 'work space of the projector for an image is not known' page || fail "no note"
# Three images take no more work space than one, but more than none.
projector_bytes() { "$ingot" fit model.gguf --with sees.gguf "$@" --json | python 'import json, sys
print(json.load(sys.stdin)["host"]["projector_bytes"])'; }
(($(projector_bytes --images 3 --image-size 9x9) == $(projector_bytes --image-size 9x9))) || fail "three images"
(($(projector_bytes --image-size 9x9) > $(projector_bytes))) || fail "no work space"
"$ingot" fit model.gguf --with sees.gguf --images 900 --image-size 9x9 >page 2>remark
grep -q 'context is too small for the images' remark || fail "no remark: $(cat remark)"
expect_error 2 'not a size in pixels like 1024x768' "$ingot" tokenize model.gguf --with sees.gguf --image-size 0x9
expect_error 2 'go together' "$ingot" tokenize model.gguf x --with sees.gguf
"$ingot" sample --architecture clip --projector gemma4ua hears.gguf -q
[[ $("$ingot" tokenize model.gguf --with hears.gguf --audio-seconds 2.5 --json | python '
import json, sys
sound = json.load(sys.stdin)
print(sound["sound"]["tokens"], [mark["text"] for mark in sound["sound"]["marks"]])
') == "63 ['<|audio>', '<audio|>']" ]] || fail "no sound"
"$ingot" fit model.gguf --with hears.gguf --audio-seconds 2.5 >page
grep -q '^sound .*2.5 seconds, 63 of 2,048 tokens of context' page || fail "$(cat page)"
"$ingot" fit model.gguf --with hears.gguf --audio-seconds 900 >page 2>remark
grep -q 'context is too small for the sound' remark || fail "no remark: $(cat remark)"
expect_error 2 'no number of seconds' "$ingot" tokenize model.gguf --with hears.gguf --audio-seconds x
expect_error 2 'no encoder of sounds' "$ingot" tokenize model.gguf --with sees.gguf --audio-seconds 1
expect_error 2 'not both' "$ingot" tokenize model.gguf x --with sees.gguf --image-size 9x9
expect_error 2 'image-size is missing' "$ingot" fit model.gguf --with sees.gguf --images 2
