# SPDX-License-Identifier: MIT
# The files that docs/quantize.md speaks of.
ingot sample model-F16.gguf -q
ingot quantize model-F16.gguf int4.gguf Q4_0 -q
ingot quantize int4.gguf int4-BF16.gguf BF16 --allow-requantize -q
python3 -c '
import struct
# The older format: how much each of the 256 columns of one tensor matters.
name, text = b"blk.0.attn_q.weight", b"wiki.txt"
with open("older.dat", "wb") as file:
    file.write(struct.pack("<ii", 1, len(name)) + name + struct.pack("<ii", 2, 256))
    file.write(struct.pack("<256f", *range(1, 257)) + struct.pack("<ii", 2, len(text)) + text)
'
for name in imatrix english code; do ingot imatrix convert older.dat -o $name.gguf; done
for i in {1..60}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >calibration.txt
cp calibration.txt heldout.txt
