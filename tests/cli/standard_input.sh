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
