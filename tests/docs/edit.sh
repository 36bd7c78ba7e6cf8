# SPDX-License-Identifier: MIT
# The files that docs/edit.md speaks of.
ingot sample model.gguf -q
echo '{{ messages[0].content }}' >chat.jinja
