# SPDX-License-Identifier: MIT
# What the exit status says.
"$ingot" sample model.gguf -q
echo "no model" >text.gguf
head -c 1000 model.gguf >short.gguf
for command in show metadata tensors anatomy; do
  expect 0 "$ingot" "$command" model.gguf >/dev/null
  expect_error 3 'text.gguf: ' "$ingot" "$command" text.gguf
  expect_error 3 'short.gguf: ' "$ingot" "$command" short.gguf
  [[ $command == show ]] || expect_error 3 'this is a directory; give a file name' "$ingot" "$command" .
  expect_error 4 'missing.gguf: ' "$ingot" "$command" missing.gguf
done
expect_error 4 'no/folder/x.gguf: ' "$ingot" sample no/folder/x.gguf

# Over several files the highest wins, and all are looked at.
expect 3 "$ingot" show model.gguf text.gguf model.gguf >pages 2>/dev/null
[[ $(grep -c '^file ' pages) == 2 ]] || fail "not two pages"
expect 4 "$ingot" show missing.gguf text.gguf model.gguf >/dev/null 2>&1

# A full disk is seen even if it fills up at the very end; a reader that has enough is no failure.
if [[ -e /dev/full ]]; then
  expect 4 "$ingot" show model.gguf >/dev/full 2>errors
  grep -q '^ingot: standard output: ' errors || fail "stderr: $(cat errors)"
fi
"$ingot" sample large.gguf --vocab 20000 --embedding 32 -q
for command in metadata anatomy; do
  "$ingot" "$command" large.gguf --json --color always 2>errors | head -c 100 >/dev/null
  [[ ! -s errors ]] || fail "stderr: $(cat errors)"
done
