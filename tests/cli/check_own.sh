# SPDX-License-Identifier: MIT
# What Ingot makes itself is clean: samples of every type, and models quantized by every recipe that
# needs no importance matrix, with rows that hold blocks and rows that do not.
own() {
  status=0
  "$ingot" check --data -q "$1" >found || status=$?
  ((status == 0)) || fail "$2: status $status: $(cat found)"
}

"$ingot" types --json >types.json
for type in $(python 'import json
for row in json.load(open("types.json")):
    if row["can_encode"]: print(row["type"])'); do
  "$ingot" sample sample.gguf --type "$type" --embedding 256 --feed-forward 256 --layers 1 --vocab 300 \
    --force -q 2>/dev/null || continue
  own sample.gguf "sample of $type"
done
"$ingot" sample sample.gguf --type IQ2_S --embedding 256 --feed-forward 256 --force -q
"$ingot" metadata sample.gguf general.file_type --json | grep -q '"value": 29' ||
  fail "the tensor type IQ2_S is that of IQ2_M"

for width in 80 96 256; do
  "$ingot" sample wide.gguf --type F16 --embedding "$width" --feed-forward "$width" --heads 2 \
    --kv-heads 2 --layers 1 --vocab 300 --force -q
  for recipe in F16 Q4_0 Q8_0 Q2_K Q3_K_S Q4_K_M Q5_K_S Q6_K IQ4_NL IQ4_XS IQ3_S TQ1_0 MXFP4_MOE Q1_0; do
    "$ingot" quantize wide.gguf made.gguf "$recipe" --force -q 2>/dev/null || continue
    own made.gguf "width $width as $recipe"
  done
done
