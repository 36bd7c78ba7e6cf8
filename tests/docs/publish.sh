# SPDX-License-Identifier: MIT
# The files that the recipe in docs/publish.md names.
cp "$(dirname "${BASH_SOURCE[0]}")/../../examples/release.yaml" .
ingot sample model-F16.gguf --layers 1 --embedding 256 --feed-forward 256 --context 64 -q
for i in {1..20}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt
ingot imatrix collect model-F16.gguf --text text.txt -o imatrix.gguf -q
