# SPDX-License-Identifier: MIT
# A set may have more files than a process has descriptors. $INGOT_ROUNDS: 100 in scripts/nightly,
# where there are 20,000.
count=$((${INGOT_ROUNDS:-5} < 100 ? 270 : 20000))
python '
import struct, sys
def text(t): return struct.pack("<Q", len(t)) + t
count = int(sys.argv[1])
head = b"GGUF" + struct.pack("<IQQ", 3, count, 1)
head += text(b"general.architecture") + struct.pack("<I", 8) + text(b"eagle3")
for i in range(count):
    head += text(b"t%d" % i) + struct.pack("<IQIQ", 1, 8, 0, 32 * i)
head += bytes(-len(head) % 32)
with open("model.gguf", "wb") as file:
    file.write(head)
    for i in range(count): file.write(struct.pack("<8f", *[i % 1000] * 8))
' "$count"
last=$(printf 's-%05d-of-%05d.gguf' "$count" "$count")
first=$(printf 's-00001-of-%05d.gguf' "$count")
ulimit -n 256
"$ingot" split model.gguf s --max-tensors 1 -q
[[ $(compgen -G 's-*.gguf' | wc -l) == "$count" ]] || fail "not all files"
inode=$(stat -c %i "$last")
"$ingot" split model.gguf s --max-tensors 1 --force -q
[[ $(stat -c %i "$last") != "$inode" ]] || fail "not replaced"
[[ $(find . -name '.*' -not -name . | wc -l) == 0 ]] || fail "left over: $(find . -name '.*' | head)"
for io in mmap read; do
  "$ingot" merge "$first" merged.gguf --force -q --io $io
  cmp merged.gguf model.gguf
done
"$ingot" quantize "$first" q.gguf F16 --keep-split -q
"$ingot" merge "$first" merged.gguf --force --delete-shards -q
[[ $(compgen -G 's-*.gguf' | wc -l) == 0 ]] || fail "not removed"
