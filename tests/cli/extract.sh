# SPDX-License-Identifier: MIT
# What comes out are the tensor's bytes, or the numbers they mean.
"$ingot" sample model.gguf --type Q8_0 -q
"$ingot" sample big.gguf --type Q8_0 --endian big -q
name=blk.1.ffn_down.weight
for model in model big; do
  for form in raw f32 f16 bf16 npy; do
    "$ingot" extract "$model.gguf" "$name" -o "$model.$form" --as "$form" 2>>said
  done
done
# What was written is said: the ending of OUT decodes nothing.
for text in 'model.raw (.*): raw Q8_0, as it is stored; --as f32 decodes it$' 'model.f32 (.*): Q8_0 decoded to F32$' \
  'model.npy (.*): Q8_0 decoded to a NumPy array of F32$'; do
  grep -q "^ingot: wrote $text" said || fail "$text: $(cat said)"
done
"$ingot" extract model.gguf "$name" -o ending.f32 2>&1 | grep -q 'raw Q8_0, as it is stored' || fail "ending.f32"
"$ingot" tensors model.gguf --json "$name" >tensor.json
"$ingot" tensors model.gguf --json "$name" --stats >stats.json
python '
import json, struct
tensor = json.load(open("tensor.json"))[0]
stats = json.load(open("stats.json"))[0]
blocks = open("model.raw", "rb").read()
with open("model.gguf", "rb") as file:
    file.seek(tensor["file_offset"])
    assert file.read(tensor["bytes"]) == blocks
expected = []
for at in range(0, len(blocks), 34):
    scale, = struct.unpack_from("<e", blocks, at)
    expected += [scale * code for code in struct.unpack_from("<32b", blocks, at + 2)]
count = tensor["elements"]
assert len(expected) == count
floats = open("model.f32", "rb").read()
assert list(struct.unpack(f"<{count}f", floats)) == expected
halves = struct.unpack(f"<{count}e", open("model.f16", "rb").read())
assert all(abs(h - f) <= abs(f) / 1024 for h, f in zip(halves, expected))
brains = struct.unpack(f"<{count}H", open("model.bf16", "rb").read())
assert all(abs(struct.unpack("<f", struct.pack("<I", b << 16))[0] - f) <= abs(f) / 128
           for b, f in zip(brains, expected))
array = open("model.npy", "rb").read()
assert array[:8] == b"\x93NUMPY\x01\x00"
length, = struct.unpack_from("<H", array, 8)
header = eval(array[10:10 + length])
assert (10 + length) % 64 == 0
# The other way round: NumPy names the fastest-varying dimension last.
assert header == {"descr": "<f4", "fortran_order": False, "shape": tuple(tensor["shape"][::-1])}
assert array[10 + length:] == floats
# Statistics are those of these numbers.
mean = sum(expected) / count
assert stats["min"] == min(expected) and stats["max"] == max(expected)
assert stats["zeros"] == expected.count(0.0) and stats["nan"] == 0 and stats["inf"] == 0
assert abs(stats["mean"] - mean) < 1e-8
assert abs(stats["std"] - (sum((x - mean) ** 2 for x in expected) / count) ** 0.5) < 1e-7
'
# The same numbers from the other byte order; other bytes.
for form in f32 f16 bf16 npy; do expect_same "model.$form" "big.$form"; done
cmp -s model.raw big.raw && fail "big-endian blocks are the same bytes"

# Types that NumPy has keep it.
"$ingot" sample half.gguf --type F16 -q
"$ingot" extract half.gguf "$name" -o half.npy
head -c 60 half.npy | tail -c 50 | grep -q "'<f2'" || fail "F16 became something else"
"$ingot" extract half.gguf "$name" -o half.raw
tail -c "$(stat -c %s half.raw)" half.npy >half.tail
expect_same half.raw half.tail

# To a pipe; with plain reads; with one thread.
"$ingot" extract model.gguf "$name" -o - --as f32 | cmp - model.f32 || fail "the pipe got other bytes"
"$ingot" extract model.gguf "$name" -o - --as f32 --io read -j 1 | cmp - model.f32 || fail "--io read"
"$ingot" extract model.gguf "$name" -o - --as f32 | head -c 10 >/dev/null

expect_error 1 'did you mean "output.weight"' "$ingot" extract model.gguf outputt.weight -o x
[[ ! -e x ]] || fail "a file without a tensor"
expect_error 2 '--force' "$ingot" extract model.gguf "$name" -o model.raw
"$ingot" extract model.gguf "$name" -o model.raw --force
expect_error 2 '--output' "$ingot" extract model.gguf "$name"
expect_error 2 'json' "$ingot" extract model.gguf "$name" -o x --json
# Never over the model, whatever it is called.
cp model.gguf before.gguf
ln -s model.gguf soft.gguf
ln model.gguf hard.gguf
for out in model.gguf soft.gguf hard.gguf; do
  expect_error 2 'it is the model' "$ingot" extract model.gguf "$name" -o "$out" --force
done
expect_same model.gguf before.gguf
