# SPDX-License-Identifier: MIT
# The files that docs/json.md speaks of.
ingot sample model.gguf -q
