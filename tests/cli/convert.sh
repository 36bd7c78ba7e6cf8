# SPDX-License-Identifier: MIT
# Conversion to GGUF of another kind, to safetensors and back; what is refused; nothing left behind.
"$ingot" sample model.gguf --type Q8_0 -q
"$ingot" sample floats.gguf --type BF16 -q

# To the other byte order and back: the same bytes, by way of every reading method.
"$ingot" convert model.gguf big.gguf --endian big
"$ingot" show big.gguf | grep -q big-endian || fail "not big-endian"
"$ingot" convert big.gguf back.gguf --endian little --io read -j 1
expect_same model.gguf back.gguf
"$ingot" convert model.gguf v2.gguf --gguf-version 2
"$ingot" convert v2.gguf v3.gguf
expect_same model.gguf v3.gguf
"$ingot" convert model.gguf aligned.gguf --align 4096
[[ $("$ingot" metadata aligned.gguf --raw general.alignment | od -An -tu4 | tr -d ' ') == 4096 ]] ||
  fail "not aligned"
"$ingot" convert model.gguf half.gguf --type f16
"$ingot" show half.gguf | grep -q 'label *F16' || fail "file_type is not F16"

# safetensors and back: every key and every bit of the tensors.
"$ingot" convert floats.gguf floats.safetensors
"$ingot" convert floats.safetensors again.gguf
expect_same floats.gguf again.gguf
"$ingot" show floats.safetensors | grep -q safetensors || fail "show does not say what it is"
"$ingot" show floats.safetensors --json | grep -q '"format": "safetensors"' || fail "show --json"

# In shards: any of them, the index and the folder are the model.
mkdir shards
"$ingot" convert floats.gguf shards/m.safetensors --max-size 600K -q
[[ $(ls shards | grep -c safetensors$) -gt 2 ]] || fail "no shards"
for name in shards shards/m.safetensors.index.json shards/m-00002-of-*.safetensors; do
  "$ingot" convert "$name" again.gguf --force
  expect_same floats.gguf again.gguf
done

# Read by somebody else: a reader of nothing but the description of the format.
"$ingot" convert model.gguf decoded.safetensors --type F32
"$ingot" tensors model.gguf --json >tensors.json
python '
import json, struct, subprocess, os
data = open("decoded.safetensors", "rb").read()
size, = struct.unpack_from("<Q", data)
header = json.loads(data[8:8 + size])
assert (8 + size) % 8 == 0
metadata = header.pop("__metadata__")
assert metadata["format"] == "pt" and metadata["general.architecture"] == "llama"
assert all(type(value) is str for value in metadata.values())
tensors = {tensor["name"]: tensor for tensor in json.load(open("tensors.json"))}
assert set(header) == set(tensors)
end = 0
for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, last_end = entry["data_offsets"]
    assert begin == end and entry["dtype"] == "F32"
    end = last_end
    assert entry["shape"] == tensors[name]["shape"][::-1]
    expected = subprocess.run([os.environ["ingot"], "extract", "model.gguf", name, "-o", "-",
                               "--as", "f32"], stdout=subprocess.PIPE, check=True).stdout
    assert data[8 + size + begin:8 + size + end] == expected, name
assert 8 + size + end == len(data)
'

# Written by somebody else: every type that GGUF holds, tensors in no order, in one file and in two.
python '
import json, os, random, struct
random.seed(1)
types = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "I8": 1}
os.mkdir("foreign")
shapes = [[2, 3, 4], [5], [], [1, 7]]
tensors = {f"{kind}.{i}": (kind, shape) for kind in types for i, shape in enumerate(shapes)}
stored, weight_map = {}, {}
def write(path, names):
    header, data = {}, b""
    for name in sorted(names, key=lambda name: (-types[tensors[name][0]], random.random())):
        kind, shape = tensors[name]
        count = types[kind]
        for dimension in shape: count *= dimension
        stored[name] = stored.get(name) or random.randbytes(count)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + count]}
        data += stored[name]
    listed = dict(sorted(header.items(), key=lambda item: random.random()))
    text = json.dumps({"__metadata__": {"k": "v"}, **listed}).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
write("foreign.safetensors", tensors)
names = list(tensors)
for file, part in (("a.safetensors", names[::2]), ("b.safetensors", names[1::2])):
    write("foreign/" + file, part)
    weight_map.update(dict.fromkeys(part, file))
json.dump({"metadata": {}, "weight_map": weight_map},
          open("foreign/model.safetensors.index.json", "w"))
json.dump({name: data.hex() for name, data in stored.items()}, open("stored.json", "w"))
'
for source in foreign.safetensors foreign; do
  "$ingot" convert "$source" foreign.gguf --force
  [[ $("$ingot" metadata foreign.gguf --raw safetensors.k) == v ]] || fail "no safetensors.k"
  "$ingot" tensors foreign.gguf --json >tensors.json
  python '
import json, os, subprocess
stored = json.load(open("stored.json"))
tensors = {tensor["name"]: tensor for tensor in json.load(open("tensors.json"))}
assert set(stored) == set(tensors)
shapes = [[4, 3, 2], [5], [], [7, 1]]
for name, data in stored.items():
    kind, i = name.split(".")
    assert tensors[name]["type"] == kind and tensors[name]["shape"] == shapes[int(i)], tensors[name]
    extract = [os.environ["ingot"], "extract", "foreign.gguf", name, "-o", "-", "--as", "raw"]
    assert subprocess.run(extract, stdout=subprocess.PIPE, check=True).stdout.hex() == data, name
'
done
rm -r foreign

# What is refused, and how.
before=$(ls -A)
expect_error 2 'OUT is missing: a file to write' "$ingot" convert model.gguf
expect_error 2 'ending' "$ingot" convert model.gguf out.xyz
expect_error 2 '--endian has no meaning for npz' "$ingot" convert model.gguf o.npz --endian big
expect_error 2 'F64' "$ingot" convert model.gguf o.gguf --type Q9
expect_error 2 'use `quantize`' "$ingot" convert model.gguf o.gguf --type Q4_K
expect_error 2 'size' "$ingot" convert model.gguf o.safetensors --max-size big
expect_error 2 '--force' "$ingot" convert model.gguf v3.gguf
expect_error 2 'same file' "$ingot" convert model.gguf ./model.gguf --force
expect_error 2 'multiple of 8' "$ingot" convert model.gguf o.gguf --align 12
expect_error 4 'No such file' "$ingot" convert missing.gguf o.gguf
expect_error 4 'No such file' "$ingot" convert model.gguf missing/o.gguf
head -c 1000 floats.safetensors >cut.safetensors
expect_error 3 'cut off within the header' "$ingot" convert cut.safetensors o.gguf
rm cut.safetensors
[[ $(ls -A) == "$before" ]] || fail "left behind: $(ls -A)"

# Ctrl-C leaves nothing, and the earlier file as it was.
"$ingot" sample large.gguf --params 200M -q
mkdir folder
interrupt() {  # FORMAT OPTION...
  local format=$1 status=0
  shift
  echo earlier >folder/out
  mkfifo progress
  "$ingot" convert large.gguf folder/out --to "$format" "$@" --force --progress always -q 2>progress &
  local pid=$!
  # The first piece of the bar says that data is being written.
  head -c 1 progress >/dev/null
  kill -INT "$pid"
  wait "$pid" || status=$?
  ((status == 130)) || fail "$format: status $status"
  rm progress
  [[ $(cat folder/out) == earlier ]] || fail "$format: the earlier file is gone"
  [[ $(ls -A folder) == out ]] || fail "$format: left behind: $(ls -A folder)"
}
interrupt gguf --endian big
interrupt safetensors --type F32
interrupt npz
interrupt bump --allow-loss --widen

# One line says what was made: in a folder by a pattern, and what is lost.
"$ingot" sample line-F32.gguf --type F32 -q
mkdir made
"$ingot" convert line-F32.gguf -o made --type f16 >line
grep -q '^wrote made/line-F16.gguf ([0-9.]* [KM]iB): F16 (weights were F32; --type F32 keeps them), [0-9]* tensors$' line ||
  fail "$(cat line)"
"$ingot" convert line-F32.gguf 'made/{name}.{type}.gguf' >line
grep -q '^wrote made/line.F32.gguf ([0-9.]* [KM]iB): F32, [0-9]* tensors$' line || fail "$(cat line)"
