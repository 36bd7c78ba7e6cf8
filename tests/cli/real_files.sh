# SPDX-License-Identifier: MIT
# Files that other programs have made; skipped without them.
models=${INGOT_SHARED:-$tests/../../../shared}/models
if ! compgen -G "$models/*.gguf" >/dev/null; then
  echo "there are no files in $models; set INGOT_SHARED" >&2
  [[ ${CI:-} != true ]] || exit 1
  exit 77
fi
for file in "$models"/*.gguf; do
  "$ingot" show "$file" 2>errors >page
  [[ ! -s errors ]] || fail "$file: $(cat errors)"
  awk 'length > 80 { exit 1 }' page || fail "$file: a line is longer than 80 columns"
  grep -q 'vocabulary only' page || fail "$file: $(cat page)"
  for command in show metadata tensors anatomy; do
    # All fields of all files would be gigabytes of JSON.
    limit=()
    [[ $command != anatomy ]] || limit=(--limit 2000)
    "$ingot" "$command" "$file" --json "${limit[@]}" >mapped.json
    "$ingot" "$command" "$file" --json "${limit[@]}" --io read >read.json
    "$ingot" "$command" - --json "${limit[@]}" <"$file" >stdin.json
    expect_same mapped.json read.json
    [[ $command == show ]] || expect_same mapped.json stdin.json
    python3 -m json.tool mapped.json >/dev/null || fail "$file: $command: no JSON"
  done
  # The number of tokens is what the array holds.
  "$ingot" metadata "$file" tokenizer.ggml.tokens --json >tokens.json
  "$ingot" show "$file" --json >show.json
  python '
import json
tokens, = json.load(open("tokens.json"))
shown = json.load(open("show.json"))
assert tokens["count"] == len(tokens["value"]) == shown["tokenizer"]["token_count"]
for special in shown["tokenizer"]["special_tokens"]:
    assert special["text"] == tokens["value"][special["id"]]
'
done
