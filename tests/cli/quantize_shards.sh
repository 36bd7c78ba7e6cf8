# SPDX-License-Identifier: MIT
# One model over several processes, and models in shards.
"$ingot" sample model.gguf --layers 4 -q
"$ingot" quantize model.gguf whole.gguf Q4_K_M -q
"$ingot" split whole.gguf whole --shards 2 -q
# Each process writes its shard and knows nothing of the other.
"$ingot" quantize model.gguf part.gguf Q4_K_M --shard 1/2 -q &
first=$!
"$ingot" quantize model.gguf part.gguf Q4_K_M --shard 2/2 -q &
second=$!
wait "$first" && wait "$second" || fail "a process failed"
for number in 1 2; do
  expect_same "part-0000$number-of-00002.gguf" "whole-0000$number-of-00002.gguf"
done
"$ingot" merge part-00001-of-00002.gguf merged.gguf -q
expect_same merged.gguf whole.gguf
# Whatever the number of shards, and where a changed alignment moves everything.
for count in 1 3; do
  for alignment in 32 128; do
    options=(Q8_0 --override-kv "general.alignment=int:$alignment")
    "$ingot" quantize model.gguf cut.gguf "${options[@]}" -q
    "$ingot" split cut.gguf cut --shards "$count" -q
    for ((i = 1; i <= count; ++i)); do
      "$ingot" quantize model.gguf alone.gguf "${options[@]}" --shard "$i/$count" -q
      file=$(printf -- '-%05d-of-%05d.gguf' "$i" "$count")
      expect_same "alone$file" "cut$file"
    done
    "$ingot" check alone-00001-of-*.gguf -q >/dev/null
    rm alone* cut*
  done
done

# A model in shards gives the same file, or as many shards.
"$ingot" split model.gguf model --shards 3 -q
"$ingot" quantize model-00002-of-00003.gguf joined.gguf Q4_K_M -q
expect_same joined.gguf whole.gguf
"$ingot" quantize model-00001-of-00003.gguf kept.gguf Q4_K_M --keep-split -q
[[ $(echo kept*) == "kept-00001-of-00003.gguf kept-00002-of-00003.gguf kept-00003-of-00003.gguf" ]] ||
  fail "not three shards: $(echo kept*)"
for file in whole.gguf kept-00001-of-00003.gguf; do
  "$ingot" tensors "$file" --json | python '
import json, sys
for tensor in sorted(json.load(sys.stdin), key=lambda tensor: tensor["name"]):
    print(tensor["name"], tensor["type"])' >"$file.types"
done
expect_same whole.gguf.types kept-00001-of-00003.gguf.types
"$ingot" check kept-00001-of-00003.gguf -q >/dev/null

expect_error 2 'I/N' "$ingot" quantize model.gguf x.gguf Q4_K_M --shard 3/2
expect_error 2 '--keep-split' "$ingot" quantize model.gguf x.gguf Q4_K_M --shard 1/2 --keep-split
expect_error 2 '--force replaces it' "$ingot" quantize model.gguf part.gguf Q4_K_M --shard 1/2
expect_error 2 'it is an input' "$ingot" quantize model-00001-of-00003.gguf model.gguf Q4_K_M \
  --keep-split --force
# More shards, read and written, than files may be open at first.
"$ingot" split model.gguf many --max-tensors 1 -q
(
  ulimit -Sn 24
  "$ingot" quantize many-00001-of-*.gguf less.gguf Q8_0 --keep-split -q || fail "quantize: open files"
  "$ingot" convert many-00001-of-*.gguf many.safetensors --max-size 100K -q ||
    fail "convert: open files"
)
mv model-00003-of-00003.gguf away
expect_error 3 'shards are missing' "$ingot" quantize model-00001-of-00003.gguf x.gguf Q4_K_M -q

# Results that are cut by a limit are what `split` makes of the whole; what one file holds stays one.
"$ingot" sample cut.gguf --layers 3 --embedding 64 --feed-forward 128 --vocab 300 -q
"$ingot" quantize cut.gguf whole-cut.gguf Q8_0 -q
for limit in "--max-size 100K" "--shards 3"; do
  rm -f by-split-0* by-quantize-0*
  # shellcheck disable=SC2086
  "$ingot" split whole-cut.gguf by-split $limit -q
  # shellcheck disable=SC2086
  "$ingot" quantize cut.gguf by-quantize.gguf Q8_0 $limit -q
  [[ -e by-split-00001-of-00003.gguf || $limit == --max* ]] || fail "not three files"
  for file in by-split-0*; do expect_same "$file" "by-quantize${file#by-split}"; done
done
"$ingot" quantize cut.gguf one.gguf Q8_0 --max-size 1G -q
expect_same whole-cut.gguf one.gguf
expect_error 2 'give one' "$ingot" quantize cut.gguf none.gguf Q8_0 --shards 2 --max-size 1G
expect_error 2 'limit' "$ingot" quantize cut.gguf none.gguf Q8_0 --max-size 10K
