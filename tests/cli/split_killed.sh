# SPDX-License-Identifier: MIT
# Splitting or merging that is killed, or finds the disk full, leaves its input and whole files only.
"$ingot" sample model.gguf --layers 4 --embedding 64 --feed-forward 128 --vocab 300 -q
"$ingot" split model.gguf part --shards 3 -q
export original=$PWD
size=$(stat -c %s model.gguf)
modes=(--times 10 --tmpfs $((size * 5 / 4)))
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
check=$hidden_only_if_killed'
cmp model.gguf "$original/model.gguf"
for file in out-*.gguf; do
  [[ ! -e $file ]] || cmp "$file" "$original/part-${file#out-}"
done
[[ $outcome != 0 || -e out-00001-of-00003.gguf ]]
# What has a first shard is whole.
[[ ! -e out-00001-of-00003.gguf || -e out-00002-of-00003.gguf && -e out-00003-of-00003.gguf ]]
'
python3 "$tests/kill_at_random.py" --setup 'cp "$original/model.gguf" .' --check "$check" \
  "${modes[@]}" -- "$ingot" split model.gguf out --shards 3
check=$hidden_only_if_killed'
for file in part-*.gguf; do cmp "$file" "$original/$file"; done
[[ ! -e out.gguf ]] || cmp out.gguf "$original/model.gguf"
[[ $outcome != 0 || -e out.gguf ]]
'
python3 "$tests/kill_at_random.py" --setup 'cp "$original"/part-*.gguf .' --check "$check" \
  "${modes[@]}" -- "$ingot" merge part-00001-of-00003.gguf out.gguf

# Over an older set of the same names: what opens is all old or all new.
"$ingot" sample other.gguf --layers 4 --embedding 64 --feed-forward 128 --vocab 300 --seed 2 -q
"$ingot" split other.gguf old --shards 3 -q
check=$hidden_only_if_killed'
cmp model.gguf "$original/model.gguf"
'$(check_of_replaced_set old part)
setup='
cp "$original/model.gguf" .
for i in 1 2 3; do cp "$original/old-0000$i-of-00003.gguf" "out-0000$i-of-00003.gguf"; done
'
modes=(--times 10)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" \
  -- "$ingot" split model.gguf out --shards 3 --force
