# SPDX-License-Identifier: MIT
# The files that docs/fleet.md speaks of.
mkdir models
ingot sample model-F16.gguf --layers 1 --embedding 256 --feed-forward 256 -q
cp model-F16.gguf models/a.gguf
cp model-F16.gguf models/b.gguf
