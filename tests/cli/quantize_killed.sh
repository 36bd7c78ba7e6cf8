# SPDX-License-Identifier: MIT
# A set of shards over an older one of the same names, killed at whatever point, or on a full disk:
# what is there is all old or all new.
seed=0
for age in old new; do
  seed=$((seed + 1))
  "$ingot" sample $age.gguf --layers 3 --embedding 64 --feed-forward 128 --vocab 300 \
    --seed $seed -q
  "$ingot" split $age.gguf $age --shards 3 -q
  "$ingot" quantize $age-00001-of-00003.gguf q$age.gguf Q8_0 --keep-split -q
done
! cmp -s qold-00002-of-00003.gguf qnew-00002-of-00003.gguf || fail "the sets are alike"
export original=$PWD
check=$hidden_only_if_killed'
for i in 1 2 3; do cmp new-0000$i-of-00003.gguf "$original/new-0000$i-of-00003.gguf"; done
'$(check_of_replaced_set qold qnew)
setup='
cp "$original"/new-*.gguf .
for i in 1 2 3; do cp "$original/qold-0000$i-of-00003.gguf" "out-0000$i-of-00003.gguf"; done
'
modes=(--times 5)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" \
  -- "$ingot" quantize new-00001-of-00003.gguf out.gguf Q8_0 --keep-split --force -j 2 -q
