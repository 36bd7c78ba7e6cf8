# SPDX-License-Identifier: MIT
# Shards have the names, keys and sizes that were asked for, and merging gives the file again.
small="--embedding 64 --feed-forward 128 --heads 2 --kv-heads 1 --vocab 300"
# shellcheck disable=SC2086
"$ingot" sample model.gguf --layers 4 --type Q8_0 $small -q
size=$(stat -c %s model.gguf)
"$ingot" split model.gguf plan --max-size 100K --dry-run
[[ $(ls) == model.gguf ]] || fail "--dry-run wrote"
"$ingot" split model.gguf part --max-size 100K
for file in part-*; do
  (($(stat -c %s "$file") <= 100000)) || fail "$file is too large"
done
"$ingot" metadata part-00002-of-*.gguf --raw split.count >/dev/null
"$ingot" merge part-00001-of-*.gguf merged.gguf -q
expect_same model.gguf merged.gguf
rm merged.gguf part-*

# Any limit, any shard, any way to say it.
for limit in "--max-tensors 1" "--max-tensors 7" "--shards 1" "--shards 3" "--max-size 150K" \
  "--max-size 1GiB" "--max-size 90000 --max-tensors 2" "--max-size 100K --no-tensor-first-split"; do
  # shellcheck disable=SC2086
  "$ingot" split model.gguf part.gguf $limit -q
  "$ingot" merge part-*.gguf -o merged.gguf -q
  expect_same model.gguf merged.gguf
  "$ingot" merge part-*.gguf merged.gguf -q --force
  expect_same model.gguf merged.gguf
  "$ingot" merge "$(find . -name 'part-*' | sort | tail -n 1)" merged.gguf -q --force --io read
  expect_same model.gguf merged.gguf
  rm merged.gguf part-*
done
"$ingot" sample big.gguf --type F16 --endian big -q
"$ingot" split big.gguf part --shards 2 -q
"$ingot" check part-00001-of-00002.gguf -q || fail "a shard is not clean"
"$ingot" merge part-00002-of-00002.gguf merged.gguf -q
expect_same big.gguf merged.gguf
rm merged.gguf part-*

"$ingot" split model.gguf part --shards 3 --json >plan.json
python 'import json, os
plan = json.load(open("plan.json"))
assert plan["written"] and plan["tensors"] == sum(s["tensors"] for s in plan["shards"])
assert [os.path.getsize(s["file"]) for s in plan["shards"]] == [s["bytes"] for s in plan["shards"]]
assert plan["shards"][1]["first_tensor"] == plan["shards"][0]["tensors"]'
"$ingot" merge part-00001-of-00003.gguf merged.gguf --dry-run --json >merge.json
python 'import json, sys
merge = json.load(open("merge.json"))
assert not merge["written"] and merge["bytes"] == int(sys.argv[1]) and len(merge["shards"]) == 3' "$size"
[[ ! -e merged.gguf ]] || fail "--dry-run wrote"

# --- what is said ----------------------------------------------------------------------------------
expect_error 2 'alone it makes a file' "$ingot" split model.gguf x --max-size 20K
expect_error 2 'like 2G' "$ingot" split model.gguf x --max-size xG
expect_error 2 'give --max-size' "$ingot" split model.gguf x
expect_error 2 'cut into 1 to' "$ingot" split model.gguf x --shards 1000
expect_error 2 'cannot be combined' "$ingot" split model.gguf x --shards 2 --max-tensors 2
expect_error 2 '--force' "$ingot" split model.gguf part --shards 3
"$ingot" split model.gguf part --shards 3 --force -q
expect_error 2 'nothing to merge' "$ingot" merge model.gguf x.gguf
expect_error 2 'OUT is missing; the usage is: ingot merge SHARD... OUT' "$ingot" merge part-00001-of-00003.gguf
# A glob without OUT: the last shard is never taken for it.
for force in "" --force; do
  # shellcheck disable=SC2086
  expect_error 2 'one of the shards' "$ingot" merge part-*.gguf $force
  # shellcheck disable=SC2086
  expect_error 2 'same file' "$ingot" split part-00001-of-00003.gguf part --shards 3 $force
done
ln part-00002-of-00003.gguf hard.gguf
ln -s part-00002-of-00003.gguf soft.gguf
mkdir folder.gguf
sha256sum part-* >before
for out in hard.gguf soft.gguf; do
  expect_error 2 'one of the shards' "$ingot" merge part-00001-of-00003.gguf "$out" --force
done
"$ingot" merge part-00001-of-00003.gguf folder.gguf --force -q
[[ -f folder.gguf/part.gguf ]] || fail "no file in the folder"
expect_error 4 'create the output' "$ingot" merge part-00001-of-00003.gguf missing/out.gguf
expect_error 3 'not a shard of the set' "$ingot" merge part-*.gguf model.gguf -o x.gguf
cp part-00003-of-00003.gguf kept
truncate -s -1500 part-00003-of-00003.gguf
expect_error 3 'part-00003-of-00003.gguf' "$ingot" merge part-00001-of-00003.gguf x.gguf
rm part-00003-of-00003.gguf
expect 3 "$ingot" merge part-00001-of-00003.gguf x.gguf 2>message
grep -q 'a shard of the set is missing; fetch it first' message || fail "$(cat message)"
expect 3 "$ingot" split part-00001-of-00003.gguf x --shards 2 2>/dev/null
mv kept part-00003-of-00003.gguf
sha256sum --check --quiet before
[[ ! -e x.gguf ]] || fail "a file of a refused set"
"$ingot" merge part-00001-of-00003.gguf out.gguf --delete-shards -q
expect_same model.gguf out.gguf
rm hard.gguf soft.gguf
[[ -z $(find . -name 'part-*') ]] || fail "the shards are still here"

# --- what merging cannot give back is said when the file is cut ----------------------------------
says() {  # TEXT FILE
  "$ingot" split "$2" odd --shards 2 --dry-run --json 2>notes >odd.json
  grep -q "note: it has $1; merging" notes || fail "$2: $(cat notes)"
  grep -q '"restorable": false' odd.json || fail "$2: $(cat odd.json)"
}
"$ingot" split model.gguf odd --shards 2 --dry-run --json 2>notes | grep -q '"restorable": true'
[[ ! -s notes ]] || fail "$(cat notes)"
cp model.gguf longer.gguf
echo "bytes that nobody reads" >>longer.gguf
says 'bytes after the last tensor' longer.gguf
"$ingot" split longer.gguf odd --shards 2 -q 2>notes
[[ ! -s notes ]] || fail "--quiet: $(cat notes)"
"$ingot" merge odd-00001-of-00002.gguf odd.gguf -q
expect_same model.gguf odd.gguf
python '
import struct
def text(value): return struct.pack("<Q", len(value)) + value
def info(name, offset): return text(name) + struct.pack("<IQIQ", 1, 1, 0, offset)
def header(*infos):
    pair = text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), 1) + pair + b"".join(infos)
    return head + bytes(-len(head) % 32)
one = struct.pack("<f", 1) + bytes(28)
two = struct.pack("<f", 2) + bytes(28)
files = {"plain": (header(info(b"a", 0), info(b"b", 32)), one + two),
         "swapped": (header(info(b"a", 32), info(b"b", 0)), two + one),
         "gap": (header(info(b"a", 0), info(b"b", 96)), one + bytes(64) + two),
         "dirty": (header(info(b"a", 0), info(b"b", 32)), one[:-1] + b"x" + two),
         "unpadded": (header(info(b"a", 0), info(b"b", 32)), one + two[:4])}
for name, parts in files.items(): open(f"{name}.gguf", "wb").write(b"".join(parts))'
says 'padding that is not zero' dirty.gguf
says 'no padding after the last tensor' unpadded.gguf
says 'data that is not in the order of the tensors, or has gaps' gap.gguf
says 'data that is not in the order of the tensors, or has gaps' swapped.gguf
for name in swapped gap dirty unpadded; do
  "$ingot" split "$name.gguf" odd --max-tensors 1 -q --force
  "$ingot" merge odd-00001-of-00002.gguf odd.gguf -q --force
  expect_same plain.gguf odd.gguf
done

# In a folder the shards have the name of the model.
"$ingot" sample whole.gguf --layers 2 -q
"$ingot" split whole.gguf -o shards/ --shards 2 -q
[[ -e shards/whole-00001-of-00002.gguf && -e shards/whole-00002-of-00002.gguf ]] || fail "$(ls shards)"
"$ingot" split whole.gguf --shards 2 --dry-run | grep -q '^whole-00001-of-00002.gguf ' || fail "a plan has no names"
expect_error 2 'PREFIX is missing' "$ingot" split whole.gguf --shards 2
