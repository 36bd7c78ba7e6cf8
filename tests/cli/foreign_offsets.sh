# SPDX-License-Identifier: MIT
# Offsets of models in other formats are places in the files that were named.
"$ingot" sample model.gguf --type F16 -q
"$ingot" convert model.gguf one.safetensors -q
mkdir shards
"$ingot" convert model.gguf shards/m.safetensors --max-size 600K -q
"$ingot" sample k.gguf --type Q4_K -q
"$ingot" convert k.gguf weights.bump --allow-loss --manifest-out manifest.json -q

for file in one.safetensors shards shards/m.safetensors.index.json; do
  "$ingot" tensors "$file" --json >tensors.json
  "$ingot" show "$file" --json >show.json
  python '
import glob, json, os, struct, sys
files = sorted(glob.glob("shards/*.safetensors")) if "shards" in sys.argv[1] else [sys.argv[1]]
listed = {tensor["name"]: tensor for tensor in json.load(open("tensors.json"))}
starts = []
for shard, path in enumerate(files):
    data = open(path, "rb").read()
    size, = struct.unpack_from("<Q", data)
    starts.append(8 + size)
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__": continue
        begin, end = entry["data_offsets"]
        tensor = listed.pop(name)
        assert (tensor["offset"], tensor["bytes"]) == (begin, end - begin), tensor
        assert tensor["file_offset"] == 8 + size + begin and tensor["shard"] == shard, tensor
assert not listed
shown = json.load(open("show.json"))["format"]
assert shown["file_size"] == sum(os.path.getsize(path) for path in files), shown
assert shown["data_offset"] == starts[0], shown
assert shown["version"] is None and shown["alignment"] is None, shown
' "$file"
done
"$ingot" tensors shards | grep -q 'shard *$' || fail "no column for shards"
"$ingot" tensors shards | grep -q '^output_norm.* [2-9] *$' || fail "output_norm is not in a later shard"

"$ingot" tensors weights.bump --json >tensors.json
"$ingot" tensors weights.bump >table
"$ingot" report weights.bump -o report.html -q
python '
import json
tensors = {tensor["name"]: tensor for tensor in json.load(open("tensors.json"))}
lines = {line.split()[0]: line for line in open("table")}
page = open("report.html").read()
for entry in json.load(open("manifest.json"))["entries"]:
    name = entry["name"].replace("final_ln_gamma", "final_ln_weight")
    tensor = tensors.pop(name)
    assert (tensor["file_offset"], tensor["bytes"]) == (entry["file_offset"], entry["size"]), tensor
    assert tensor["offset"] == tensor["file_offset"] - 128, tensor
    assert str(entry["file_offset"]) in lines[name].split(), lines[name]
    assert f"\"file_offset\": {entry['"'"'file_offset'"'"']}" in page, name
assert not tensors
'

# What is wrong is where it is said to be: a NaN, put into a shard.
"$ingot" tensors shards --json >tensors.json
python '
import glob, json
tensor = next(t for t in json.load(open("tensors.json")) if t["name"] == "blk.0.ffn_up.weight")
path = sorted(glob.glob("shards/*.safetensors"))[tensor["shard"]]
at = tensor["file_offset"] + 10
with open(path, "r+b") as file:
    file.seek(at)
    file.write(b"\xff\x7e")
open("expected", "w").write(f"{path} {at}\n")
'
"$ingot" check shards/m.safetensors.index.json --data --json >findings.json || (($? == 1))
python '
import json
findings = json.load(open("findings.json"))["findings"]
bad = next(finding for finding in findings if finding["tensor"] == "blk.0.ffn_up.weight")
print(bad["shard"], bad["offset"])
' >found
expect_same found expected
expect_error 3 'safetensors file' "$ingot" anatomy one.safetensors

# A clean file of another format has one note: loaders of GGUF refuse it.
"$ingot" check weights.bump one.safetensors --strict --ignore foreign_format >findings ||
  fail "$(cat findings)"
python '
import json, struct
text = json.dumps({"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
open("other.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + b"\1" * 16)
'
"$ingot" check other.safetensors --strict --data --ignore foreign_format >findings || fail "$(cat findings)"

# No output replaces an input, whatever its format.
sha256sum one.safetensors weights.bump shards/* >sums
for file in one.safetensors weights.bump; do
  name=$("$ingot" tensors "$file" --json | grep -o -m 1 '"name": "[^"]*"' | cut -d '"' -f 4)
  expect_error 2 'another file' "$ingot" extract "$file" "$name" -o "$file" --force
  expect_error 2 'another file' "$ingot" report "$file" -o "./$file" --force
done
expect_error 2 'another file' "$ingot" quantize one.safetensors one.safetensors Q8_0 --force
expect_error 2 'another file' "$ingot" extract shards output.weight -o "$(ls shards/*-00002-of-*)" --force
ln -s one.safetensors part-00002-of-00002.gguf
expect_error 2 'same file' "$ingot" split one.safetensors part --shards 2 --force
expect_error 3 'is a safetensors file' "$ingot" edit one.safetensors --in-place --set general.name=x
sha256sum -c --quiet sums
