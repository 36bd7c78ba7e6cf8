# SPDX-License-Identifier: MIT
# Every type: the same bytes everywhere, and statistics near those of the float model.
"$ingot" types --json | python '
import json, sys
for row in json.load(sys.stdin): print(row["type"])' >types
while read -r type; do
  "$ingot" sample out.gguf --force -q --type "$type" --layers 1 --vocab 300 --feed-forward 256
  echo "$(sha256sum out.gguf | cut -c 1-64)  $type"
done <types
INGOT_CPU=SCALAR "$ingot" sample scalar.gguf -q --type Q4_K --layers 1 --vocab 300 -j 1
"$ingot" sample vector.gguf -q --type Q4_K --layers 1 --vocab 300 -j 3
expect_same scalar.gguf vector.gguf
"$ingot" show vector.gguf --json | grep -q '"file_type": "Q4_K_S"' || fail "the file type is missing"

expect_error 2 'blocks of 256' "$ingot" sample x.gguf --type Q4_K --embedding 32
expect_error 2 'not "Q9_9"' "$ingot" sample x.gguf --type Q9_9
"$ingot" sample out.gguf --force -q --type IQ4_XS --params 3M
"$ingot" show out.gguf --json >shown.json
python '
import json
assert abs(json.load(open("shown.json"))["model"]["parameters"] - 3e6) < 6e5
'
