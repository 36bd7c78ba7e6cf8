# SPDX-License-Identifier: MIT
# The files that docs/evaluate.md names.
ingot sample F16.gguf --layers 1 --embedding 256 --feed-forward 256 --context 64 -q
ingot quantize F16.gguf Q4_K_M.gguf Q4_K_M -q
ingot quantize F16.gguf Q3_K_M.gguf Q3_K_M -q
for i in {1..20}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >wiki.txt
cp wiki.txt calibration.txt
ingot sample --architecture bert bge-F16.gguf -q
for type in Q8_0 Q4_K_M; do ingot quantize bge-F16.gguf "bge-$type.gguf" "$type" -q; done
for n in {1..40}; do echo "Text number $n tells of many things, and this one of the number $((n * 7919))."; done >texts.txt
