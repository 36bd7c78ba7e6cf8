# SPDX-License-Identifier: MIT
# GGUF to bump: every command reads the result, verifies it, and says what is wrong.
"$ingot" sample model.gguf --type Q4_K --layers 2 -q
expect_error 3 '--allow-loss' "$ingot" convert model.gguf weights.bump
expect_error 3 'output.weight' "$ingot" convert model.gguf weights.bump
[[ ! -e weights.bump && ! -e config.json ]] || fail "something was written"
"$ingot" convert model.gguf weights.bump --allow-loss --context 16 --manifest-out manifest.json \
  2>remarks
grep -q 'note: "output.weight"' remarks || fail "the loss is not said: $(cat remarks)"
python '
import hashlib, json, struct
config = json.load(open("config.json"))
manifest = json.load(open("manifest.json"))
data = open("weights.bump", "rb").read()
assert data[:8] == b"BUMPWGT3" and hashlib.sha256(data[128:]).digest() == data[0x40:0x60]
assert config["max_position_embeddings"] == 16 == struct.unpack_from("<I", data, 0x1C)[0]
end = 132 + 14 * config["num_hidden_layers"] + 4
for entry in manifest["entries"]:
    assert entry["file_offset"] == end, entry
    end += entry["size"]
assert end == len(data)
'
"$ingot" show weights.bump >page
grep -q 'bump, version 3, codes doc' page || fail "show: $(cat page)"
"$ingot" tensors weights.bump | grep -q '^layer.1.w2 ' || fail "tensors"
"$ingot" metadata weights.bump 'llama.block_count' | grep -q 2 || fail "metadata"
"$ingot" extract weights.bump layer.0.wq -o a
"$ingot" extract model.gguf blk.0.attn_q.weight -o b
expect_same a b
"$ingot" check weights.bump >findings || (($? == 1)) || fail "check: $(cat findings)"

# Digests of the file, and of each section.
"$ingot" hash weights.bump --json >hashes.json
python '
import hashlib, json
hashes = json.load(open("hashes.json"))
data = open("weights.bump", "rb").read()
assert hashes["digests"]["sha256"] == hashlib.sha256(data).hexdigest()
sections = {tensor["name"]: tensor["digests"]["sha256"] for tensor in hashes["tensors"]}
for entry in json.load(open("manifest.json"))["entries"]:
    begin = entry["file_offset"]
    name = entry["name"].replace("final_ln_gamma", "final_ln_weight")
    assert sections[name] == hashlib.sha256(data[begin:begin + entry["size"]]).hexdigest(), name
'

# The rest of the options.
"$ingot" convert model.gguf v4/w.bump --allow-loss 2>/dev/null && fail "a folder was made"
mkdir v4
"$ingot" convert model.gguf v4/w.bump --bump-version 4 --allow-loss --config-out v4.json -q
[[ -e v4.json && ! -e v4/config.json ]] || fail "--config-out"
"$ingot" show v4/w.bump | grep -q 'bump, version 4, codes engine' || fail "version 4"
expect_error 2 'version 4' "$ingot" convert model.gguf x.bump --bump-version 4 --dtype-codes doc
"$ingot" sample half.gguf --type F16 -q
expect_error 3 '--widen' "$ingot" convert half.gguf half.bump --allow-loss --config-out h.json
"$ingot" convert half.gguf half.bump --allow-loss --widen --config-out h.json -q
"$ingot" extract half.bump token_emb -o a --force
"$ingot" extract half.gguf token_embd.weight -o b --as f32 --force
expect_same a b

"$ingot" sample simple.gguf --type Q8_0 -q
expect_error 3 '--dtype-codes engine, or --widen' \
  "$ingot" convert simple.gguf simple.bump --allow-loss --config-out s.json
"$ingot" convert simple.gguf simple.bump --allow-loss --config-out s.json --dtype-codes engine -q

# A flipped bit is found by every command; only --lenient looks at such a file.
size=$(stat -c %s weights.bump)
for offset in 128 140 200 $((size / 2)) $((size - 1)); do
  cp weights.bump flipped.bump
  python '
import sys
with open("flipped.bump", "r+b") as file:
    file.seek(int(sys.argv[1]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[1]))
    file.write(bytes([byte ^ 4]))
' "$offset"
  expect 3 "$ingot" show flipped.bump >/dev/null 2>&1
done
expect_error 3 'checksum' "$ingot" tensors flipped.bump
expect 3 "$ingot" check flipped.bump >findings
grep -q checksum_mismatch findings || fail "check: $(cat findings)"
"$ingot" show flipped.bump --lenient | grep -q 'checksum wrong' || fail "--lenient"

# A model that was cut, anywhere in its last tensor: nothing is written, whatever is allowed.
size=$(stat -c %s half.gguf)
for missing in 1 4 64; do
  head -c $((size - missing)) half.gguf >cut.gguf
  for option in --allow-loss --lenient; do
    expect 3 "$ingot" convert cut.gguf cut.bump --widen --allow-loss "$option" \
      --config-out cut.json >/dev/null 2>&1
    [[ ! -e cut.bump && ! -e cut.json ]] || fail "a cut model was converted ($option)"
  done
done
