# SPDX-License-Identifier: MIT
# The same digits for every type, number of threads and CPU.
"$ingot" sample model.gguf --type Q4_0 --layers 1 -q
"$ingot" tensors model.gguf --stats
"$ingot" tensors model.gguf --stats --json >expected.json
for cpu in AVX3 AVX2 SSE4 SCALAR nonsense; do
  INGOT_CPU=$cpu "$ingot" tensors model.gguf --stats --json -j 3 >found.json
  expect_same expected.json found.json
done
"$ingot" tensors model.gguf --stats --json --io read >found.json
expect_same expected.json found.json

# One bad number is found, and does not spoil the rest.
"$ingot" sample plain.gguf --type F32 --layers 1 -q
python '
import json, os, struct, subprocess
def tensors(*options):
    words = [os.environ["ingot"], "tensors", "plain.gguf", "--json", *options]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
place = {tensor["name"]: tensor["file_offset"] for tensor in tensors()}["output.weight"]
with open("plain.gguf", "r+b") as file:
    file.seek(place + 400)
    file.write(struct.pack("<3f", float("nan"), float("inf"), float("-inf")))
found = {tensor["name"]: tensor for tensor in tensors("--stats")}["output.weight"]
assert (found["nan"], found["inf"]) == (1, 2), found
assert found["max"] < 1 and abs(found["mean"]) < 0.01
'
"$ingot" tensors plain.gguf --stats output.weight | tail -n 1
