# SPDX-License-Identifier: MIT
# FILE may be -: a file that is already open, or a pipe.
"$ingot" sample model.gguf -q
for command in metadata tensors; do
  for options in '' '--json' '--io=read'; do
    # shellcheck disable=SC2086
    "$ingot" "$command" model.gguf $options >expected
    # shellcheck disable=SC2086
    "$ingot" "$command" - $options <model.gguf >from_file
    # shellcheck disable=SC2086
    cat model.gguf | "$ingot" "$command" - $options >from_pipe
    expect_same expected from_file
    expect_same expected from_pipe
  done
done
cat model.gguf | "$ingot" show - | grep -q 'GGUF version 3' || fail "show from a pipe"
# Of a pipe only the header is kept, so the fields are all there and the weights' bytes are not.
"$ingot" anatomy model.gguf | wc -l >expected
cat model.gguf | "$ingot" anatomy - | wc -l >from_pipe
expect_same expected from_pipe
head -c 100 model.gguf | expect_error 3 '-: ' "$ingot" show -
expect_error 3 '-: ' "$ingot" show - </dev/null
# What needs the weights says so, and works where - is a file.
for command in "hash -" "hash - --no-tensors" "extract - output.weight -o x" "split - x --shards 2" \
  "convert - x.gguf"; do
  # shellcheck disable=SC2086
  cat model.gguf | expect_error 2 'a pipe can be read only once; give a file' "$ingot" $command
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
