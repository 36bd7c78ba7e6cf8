# SPDX-License-Identifier: MIT
# Digests are those of everybody else's programs, and --verify names what differs.
"$ingot" sample model.gguf --type Q8_0 -q
"$ingot" sample other.gguf --type F16 --seed 2 -q
"$ingot" hash model.gguf --json --algorithm all --uuid >manifest.json
"$ingot" tensors model.gguf --json >tensors.json
python '
import hashlib, json, uuid
manifest, tensors = json.load(open("manifest.json")), json.load(open("tensors.json"))
data = open("model.gguf", "rb").read()
assert manifest["file"] == "model.gguf"
def check(digests, content):
    assert list(digests) == ["sha256", "sha1", "xxh64", "xxh3-128", "xet"], digests
    assert digests["sha256"] == hashlib.sha256(content).hexdigest()
    assert digests["sha1"] == hashlib.sha1(content).hexdigest()
check(manifest["digests"], data)
weights = b""
for digests, tensor in zip(manifest["tensors"], tensors, strict=True):
    assert digests["name"] == tensor["name"]
    content = data[tensor["file_offset"]:][:tensor["bytes"]]
    check(digests["digests"], content)
    weights += content
space = uuid.UUID("ef001206-dadc-5f6d-a15f-3359e577d4e5").bytes
assert manifest["uuid"] == str(uuid.UUID(bytes=hashlib.sha1(space + weights).digest()[:16], version=5))
open("weights.sha256", "w").write(hashlib.sha256(weights).hexdigest())
'
# The same for any number of threads, by plain reads, of one kind alone.
for options in "-j 1" "-j 7" "--io read" "--io read -j 1"; do
  # shellcheck disable=SC2086
  "$ingot" hash model.gguf --json --algorithm all --uuid $options >again.json
  expect_same manifest.json again.json
done
grep '"name"' manifest.json >tensors
"$ingot" hash model.gguf --json -a all --no-file | grep '"name"' | cmp - tensors || fail "--no-file"
"$ingot" hash model.gguf --no-tensors | grep -q "$(sha256sum <model.gguf | head -c 64)  model.gguf"
"$ingot" hash - --no-tensors <model.gguf | grep -q "$(sha256sum <model.gguf | head -c 64)  -"
"$ingot" hash model.gguf other.gguf --json | python 'import json, sys
assert [model["file"] for model in json.load(sys.stdin)] == ["model.gguf", "other.gguf"]'

# --- manifests -------------------------------------------------------------------------------------
"$ingot" hash model.gguf other.gguf -o both.json
expect_error 2 '--force' "$ingot" hash model.gguf -o both.json
"$ingot" hash model.gguf other.gguf -o both.json --force
"$ingot" hash model.gguf --as gguf-hash -a xxh64,sha256 --uuid >model.manifest
sed 's/[0-9a-f]\{8\}[-0-9a-f]*/DIGITS/' model.manifest | sed -n '1,2p; 43,$p'
grep -q "^sha256    $(cat weights.sha256)  model.gguf$" model.manifest || fail "digest of the weights"
sha256sum model.gguf other.gguf >sums
"$ingot" hash model.gguf other.gguf --as sha256sum >own_sums
expect_same sums own_sums
cp model.gguf $'line\nand\\.gguf'
"$ingot" hash $'line\nand\\.gguf' --as sha256sum | sha256sum -c --quiet || fail "sha256sum does not read it"
sha256sum $'line\nand\\.gguf' >escaped
sha256sum --tag $'line\nand\\.gguf' >escaped_tag
for sums in escaped escaped_tag; do
  "$ingot" hash --verify "$sums" | grep -q '^line.nand.*: ok: 1 digest agrees$' || fail "$sums is not read"
done
rm $'line\nand\\.gguf'
expect_error 2 'nothing else' "$ingot" hash model.gguf --as sha256sum -a sha1
for manifest in manifest.json both.json model.manifest sums; do
  echo "$manifest"
  "$ingot" hash --verify "$manifest"
done
mkdir elsewhere
cp both.json elsewhere
mv other.gguf elsewhere
(cd elsewhere && expect 4 "$ingot" hash --verify both.json) 2>/dev/null
cp model.gguf elsewhere/renamed.gguf
"$ingot" hash elsewhere/renamed.gguf --verify model.manifest
"$ingot" hash elsewhere/other.gguf --verify both.json
expect_error 1 'has no file of this name' "$ingot" hash elsewhere/renamed.gguf --verify both.json

# One changed byte: the status is 1 and the tensor is named.
cp model.gguf changed.gguf
offset=$(python 'import json; print(json.load(open("tensors.json"))[5]["file_offset"] + 40)')
printf '\xA5' | dd of=changed.gguf bs=1 seek="$offset" conv=notrunc status=none
for manifest in manifest.json model.manifest; do
  expect 1 "$ingot" hash changed.gguf --verify "$manifest" >found
  grep -q 'tensor blk.0.attn_output.weight differs' found || fail "$manifest: $(cat found)"
done
expect 1 "$ingot" hash changed.gguf --verify manifest.json --json >verdict.json
python 'import json
verdict = json.load(open("verdict.json"))
assert not verdict["verified"]
assert [m["name"] for m in verdict["mismatches"]] == ["changed.gguf", "blk.0.attn_output.weight"]
assert all(len(m["expected"]) == len(m["found"]) == 64 for m in verdict["mismatches"])'
# A tensor too many or too few.
sed '/attn_k.weight/d' manifest.json >fewer.json
expect 1 "$ingot" hash model.gguf --verify fewer.json >verdict
grep 'attn_k' verdict
grep -q 'FAILED: [0-9]* digests agree; 2 files or tensors are not in the manifest$' verdict || fail "$(tail -n 1 verdict)"
sed 's/attn_k.weight/attn_z.weight/' manifest.json >moved.json
expect 1 "$ingot" hash model.gguf --verify moved.json >verdict
grep 'attn_[kz]' verdict
grep -q 'FAILED: .*2 of [0-9]* digests have no file or tensor; 2 files' verdict || fail "$(tail -n 1 verdict)"

# --- sets ------------------------------------------------------------------------------------------
python3 "$tests/make_shards.py" set
"$ingot" hash set-*.gguf --json >set.json
python 'import hashlib, json
found = json.load(open("set.json"))
assert found["digests"] is None and len(found["tensors"]) == 3
for shard in found["shards"]:
    assert shard["digests"]["sha256"] == hashlib.sha256(open(shard["file"], "rb").read()).hexdigest()'
"$ingot" hash --verify set.json
sha256sum set-*.gguf >set.sums
"$ingot" hash --verify set.sums
"$ingot" hash set-00002-of-00003.gguf --as gguf-hash >set.manifest
"$ingot" hash --verify set.manifest
mv set-00003-of-00003.gguf away
expect 1 "$ingot" hash --verify set.json -q
# A list with holes is none, and says so.
expect 1 "$ingot" hash set-*.gguf -q >/dev/null 2>said
grep -q '1 of 3 shards are not there' said || fail "$(cat said)"
expect 1 "$ingot" hash set-*.gguf -q -o holes.json 2>said
[[ ! -e holes.json ]] && grep -q 'holes.json: it is not written' said || fail "$(cat said)"
mv away set-00003-of-00003.gguf

# --- wrong -----------------------------------------------------------------------------------------
printf 'sha256    123  model.gguf\n' >wrong
expect_error 3 'has 64 hexadecimal digits' "$ingot" hash --verify wrong
echo '{"file": "x' >wrong
expect_error 3 'not JSON' "$ingot" hash --verify wrong
echo '[]' >wrong
expect_error 3 'names no file' "$ingot" hash --verify wrong
expect_error 3 'not a manifest' "$ingot" hash --verify model.gguf
expect_error 1 'could be compared' "$ingot" hash --verify model.manifest -a sha1
expect_error 2 'must be one of sha256' "$ingot" hash model.gguf -a md5
expect_error 2 'FILE is missing; the usage is: ingot hash' "$ingot" hash
expect_error 2 'contradict' "$ingot" hash model.gguf --json --as text
expect_error 4 'missing.gguf' "$ingot" hash missing.gguf
# Of several files each has its line: digests, or why it has none.
expect 4 "$ingot" hash model.gguf missing.gguf --json >several.json 2>said
grep -q 'missing.gguf: .*No such file' said || fail "$(cat said)"
expect 4 "$ingot" hash --verify several.json --json >verdicts.json 2>/dev/null
python 'import json
for name in ("several.json", "verdicts.json"):
    there, missing = json.load(open(name))
    assert "error" not in there and missing["file"] == "missing.gguf", name
    assert missing["error"]["rule"] == "io_error" and "No such file" in missing["error"]["message"], missing'

# --- targets ---------------------------------------------------------------------------------------
cp model.gguf before.gguf
ln model.gguf hard.gguf
ln -s model.gguf soft.gguf
mkdir folder
for out in model.gguf ./model.gguf hard.gguf soft.gguf; do
  expect_error 2 'one of the files to hash' "$ingot" hash model.gguf -o "$out" --force
done
expect_error 2 'one of the files to hash' "$ingot" hash set-00001-of-00003.gguf --force \
  -o set-00002-of-00003.gguf
expect_error 3 'directory; give a file name' "$ingot" hash model.gguf -o folder --force
expect_error 4 'No such file' "$ingot" hash model.gguf -o nowhere/manifest.json
expect_same model.gguf before.gguf
"$ingot" hash --verify set.json -q

# A digest in any form: alone, with its algorithm, of Git LFS, of the tools of BSD.
"$ingot" sample one.gguf -q
sum=$(sha256sum one.gguf | cut -d ' ' -f 1)
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 4223520\n' "$sum" >pointer
sha256sum --tag one.gguf >tagged
echo "$sum" >alone
for digest in "$sum" "sha256:$sum" "SHA256:$sum" pointer tagged alone; do
  "$ingot" hash one.gguf --verify "$digest" | grep -qx 'one.gguf: ok: 1 digest agrees' || fail "$digest"
done
"$ingot" hash --verify tagged -q
other=${sum//[0-7]/8}
expect 1 "$ingot" hash one.gguf --verify "$other" | grep -q '^one.gguf: FAILED: 1 of 1 digest differs$' || fail "$other"
expect_error 2 'name one FILE' "$ingot" hash --verify "$sum"
expect_error 2 'name one FILE' "$ingot" hash --verify pointer one.gguf model.gguf
