# SPDX-License-Identifier: MIT
# FILE may be -: a file that is already open, or a pipe.
"$ingot" sample model.gguf -q
# A command may leave the rest of a pipe unread.
feed() { cat model.gguf "$@" 2>/dev/null || true; }
for command in metadata tensors; do
  for options in '' '--json' '--io=read'; do
    # shellcheck disable=SC2086
    "$ingot" "$command" model.gguf $options >expected
    # shellcheck disable=SC2086
    "$ingot" "$command" - $options <model.gguf >from_file
    # shellcheck disable=SC2086
    feed | "$ingot" "$command" - $options >from_pipe
    expect_same expected from_file
    expect_same expected from_pipe
  done
done
feed | "$ingot" show - | grep -q 'GGUF version 3' || fail "show from a pipe"
# Of a pipe only the header is kept.
"$ingot" anatomy model.gguf --section header >expected
feed | "$ingot" anatomy - --section header >from_pipe
expect_same expected from_pipe
# A command reads the header of a pipe and leaves the rest: here there is no end of it.
for command in show metadata tensors anatomy 'check --header-only'; do
  # shellcheck disable=SC2086
  feed /dev/zero | timeout 60 "$ingot" $command - -q >said ||
    fail "$command waits for the data of a pipe"
  [[ -s said ]] || fail "$command of a pipe: nothing"
done
# So does --header-only with a file, whose data may be missing.
head -c 100000 model.gguf >part.gguf
for command in metadata tensors 'anatomy --section metadata'; do
  # shellcheck disable=SC2086
  "$ingot" $command model.gguf >expected
  # shellcheck disable=SC2086
  "$ingot" $command part.gguf --header-only >from_part
  expect_same expected from_part
done
expect_error 3 'tensor' "$ingot" show part.gguf
"$ingot" show part.gguf --header-only | grep -q 'GGUF version 3' || fail "show --header-only"
"$ingot" check part.gguf --header-only >/dev/null 2>said
grep -q 'only the header is checked' said || fail "check --header-only: $(cat said)"
expect_error 2 'leave out --header-only' "$ingot" hash part.gguf --header-only
head -c 5000 model.gguf >short.gguf
expect_error 3 'cut off' "$ingot" show short.gguf --header-only
head -c 100 model.gguf | expect_error 3 '-: ' "$ingot" show -
expect_error 3 '-: ' "$ingot" show - </dev/null
# What needs the weights says so, and works where - is a file.
for command in "hash -" "hash - --no-tensors" "extract - output.weight -o x" "split - x --shards 2" \
  "convert - x.gguf"; do
  # shellcheck disable=SC2086
  feed | expect_error 2 'a pipe can be read only once; give a file' "$ingot" $command
done
"$ingot" hash - --no-file <model.gguf | grep -q output.weight || fail "hash of an open file"

# A pipe with a name is refused at once, by every command that reads or writes a model: nobody waits
# for a writer that may never come.
mkfifo pipe
for command in "show pipe" "metadata pipe" "tensors pipe" "anatomy pipe" "check pipe" "hash pipe" \
  "diff pipe model.gguf" "diff model.gguf pipe" "extract pipe a -o x" "split pipe x --shards 2" \
  "merge pipe x" "convert pipe x.gguf" "convert model.gguf pipe --to gguf --force" \
  "convert model.gguf pipe --to npz --force" "quantize pipe x Q8_0" \
  "quantize model.gguf pipe Q8_0 --force" "quantize model.gguf x Q8_0 --imatrix pipe" \
  "edit pipe --in-place --set a:str=b" "repair pipe -o x" "report pipe -o x" "imatrix show pipe" \
  "extract model.gguf output.weight -o pipe --force" "hash model.gguf -o pipe --force"; do
  # shellcheck disable=SC2086
  expect 3 timeout 60 "$ingot" $command >said 2>&1
  grep -q 'not a regular file' said || fail "$command: $(cat said)"
done
[[ -p pipe && ! -e x && ! -e x.gguf ]] || fail "something was written"
# It is the output that is wrong, and that is said.
expect_error 3 '"pipe"' "$ingot" convert model.gguf pipe --to gguf --force
expect_error 3 '"pipe"' "$ingot" extract model.gguf output.weight -o pipe --force
expect_error 2 'must be a file' "$ingot" repair - -o x <model.gguf

# A manifest streams.
"$ingot" hash model.gguf --json >manifest.json
"$ingot" hash model.gguf --verify - <manifest.json >/dev/null
cat manifest.json | "$ingot" hash model.gguf --verify - >/dev/null
"$ingot" hash model.gguf --verify <(cat manifest.json) >/dev/null
sed 's/"sha256": "./"sha256": "x/' manifest.json >wrong.json
expect 3 "$ingot" hash model.gguf --verify - <wrong.json 2>/dev/null
