# SPDX-License-Identifier: MIT
# No file can drive the terminal or break the JSON.
"$ingot" sample model.gguf -q
patch_file model.gguf 'Ingot sample llama 2.1M' '\x1b[31m\xe2\x80\xaeX\x9b\x07\"\\\\\xff\n\t\xc2\x9b2.1M'
patch_file model.gguf 'blk.0.attn_q.weight' 'blk.\x1b[2J\\\\\xe2\x80\x8bxyzght'
patch_file model.gguf 'general.size_label' 'gen\x07\x1b[31mlze_label'
"$ingot" show model.gguf | head -n 1
"$ingot" metadata model.gguf 'general.name' 'gen*label'
"$ingot" tensors model.gguf 'blk*ght' | head -n 3
"$ingot" anatomy model.gguf --section tensors | sed -n '/\\x1b/p'
"$ingot" metadata model.gguf --json 'general.name' 'gen*label'
"$ingot" metadata model.gguf --raw general.name | od -An -c
for command in show metadata tensors anatomy; do
  for options in '' '--json'; do
    # shellcheck disable=SC2086
    "$ingot" "$command" model.gguf $options >output 2>&1
    python '
import sys
text = open("output", encoding="utf-8").read()
bad = [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in "\u202e\u200b"]
sys.exit(f"raw characters: {bad!r}" if bad else 0)
'
  done
  "$ingot" "$command" model.gguf --json | python3 -m json.tool >/dev/null
done
