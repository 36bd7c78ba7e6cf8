# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sparse files that promise much, and how much memory they take. What sanitizers keep is not counted.
[[ ${INGOT_INSTRUMENTED:-0} == 0 ]] || exit 77

# A set of 12 shards; the header of each is 30 million empty strings, all in a hole.
python '
import struct
def text(word): return struct.pack("<Q", len(word)) + word.encode()
for i in range(12):
    keys = [text("general.architecture") + struct.pack("<I", 8) + text("llama"),
            text("split.no") + struct.pack("<IH", 2, i),
            text("split.count") + struct.pack("<IH", 2, 12),
            text("split.tensors.count") + struct.pack("<Ii", 5, 0),
            text("x.y") + struct.pack("<IIQ", 9, 8, 30_000_000)]
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)) + b"".join(keys)
    with open(f"set-{i + 1:05}-of-00012.gguf", "wb") as out:
        out.write(header)
        out.truncate(len(header) + 8 * 30_000_000)
'

# uses_at_most MIB STATUS COMMAND...: its largest resident memory, mapped pages included.
uses_at_most() {
  python '
import os, subprocess, sys
child = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
status = os.waitstatus_to_exitcode(status)
assert status == int(sys.argv[2]), (status, sys.argv)
assert usage.ru_maxrss <= int(sys.argv[1]) << 10, (usage.ru_maxrss >> 10, sys.argv)
' "$@"
}

for access in mmap read; do
  uses_at_most 400 3 "$ingot" show set-00001-of-00012.gguf --io $access
  uses_at_most 400 3 "$ingot" check set-00001-of-00012.gguf --io $access
  uses_at_most 400 3 "$ingot" merge set-00007-of-00012.gguf merged.gguf --io $access
done
[[ ! -e merged.gguf ]]
expect_error 3 'all shards of a set share the limits of one file' "$ingot" show set-00003-of-00012.gguf

# The journal of an edit, which is one hole: no reader reads it.
"$ingot" sample model.gguf -q
truncate -s 384M model.gguf.ingot-journal
for access in mmap read; do
  uses_at_most 30 0 "$ingot" show model.gguf --io $access
  uses_at_most 30 0 "$ingot" tensors model.gguf --io $access
done
uses_at_most 30 2 "$ingot" edit model.gguf --in-place --set a.b:u32=1
