# SPDX-License-Identifier: MIT
# A conversion that is killed, at whatever point, or finds the disk full leaves the input as it was
# and each output the earlier or the new one, never a part of one.
"$ingot" sample model.gguf --type Q4_K --layers 2 -q
sha256sum model.gguf >sum
export setup_folder=$PWD
setup='
cp "$setup_folder"/model.gguf "$setup_folder"/sum .
for file in out.gguf out.safetensors weights.bump config.json; do echo earlier >$file; done
'
check='
sha256sum --status -c sum
for file in out.gguf out.safetensors weights.bump config.json; do
  # Two files of one conversion go aside together.
  if [[ $outcome == killed && $target == weights.bump && ! -e $file ]]; then
    grep -qa earlier .$file.ingot-old
    continue
  fi
  if head -c 7 $file | grep -qa earlier; then continue; fi
  case $file in
    config.json) python3 -c "import json; json.load(open(\"config.json\"))" ;;
    *) "$ingot" tensors $file >/dev/null ;;
  esac
done
if [[ $outcome == 0 ]]; then ! head -c 7 $target | grep -qa earlier; fi
for file in $(ls -A); do
  case $file in
    out.gguf|out.safetensors|weights.bump|config.json|model.gguf|sum) ;;
    .*.tmp) [[ $outcome == killed ]] ;;
    .*.ingot-old) [[ $outcome == killed && $target == weights.bump ]] ;;
    *) ls -A >&2; exit 1 ;;
  esac
done
'
modes=(--times 5 --tmpfs $(($(stat -c %s model.gguf) + 300000)))
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
for target in out.gguf out.safetensors weights.bump; do
  export target
  options=()
  [[ $target != out.gguf ]] || options=(--endian big)
  [[ $target != weights.bump ]] || options=(--allow-loss -q)
  python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" \
    -- "$ingot" convert model.gguf "$target" --force "${options[@]}"
done

# Shards and an index over older ones of the same names: what opens, by whatever name, is all old or
# all new; what was there before is there, if under another name; and the next run cleans up.
"$ingot" sample other.gguf --type F16 --layers 2 --seed 7 -q
"$ingot" sample newer.gguf --type F16 --layers 2 --seed 8 -q
mkdir old new
"$ingot" convert other.gguf old/m.safetensors --max-size 2M -q
"$ingot" convert newer.gguf new/m.safetensors --max-size 2M -q
(($(ls old | wc -l) > 3)) || fail "not enough shards"
[[ $(ls old) == "$(ls new)" ]] || fail "the names differ"
export first=$(cd old && ls *-00001-of-*) last=$(cd old && ls *.safetensors | tail -n 1)
for age in old new; do "$ingot" hash $age --no-file | sed 1d >$age.sums; done
check='
for name in . m.safetensors.index.json "$first" "$last"; do
  if "$ingot" hash "set/$name" --no-file >named 2>message; then
    sed 1d named >sums  # without the name
    cmp -s sums "$setup_folder/new.sums" || [[ $outcome != 0 ]]
    cmp -s sums "$setup_folder/new.sums" || cmp -s sums "$setup_folder/old.sums"
  else
    [[ $outcome == killed && -s message ]]
  fi
done
if [[ $outcome == 0 ]]; then
  [[ $(ls -A set) == "$(ls -A "$setup_folder/new")" ]]
elif [[ $outcome == 4 ]]; then
  diff -r set "$setup_folder/old"
elif [[ ! -e set/m.safetensors.index.json ]]; then
  for file in $(ls "$setup_folder/old"); do
    cmp -s "set/$file" "$setup_folder/old/$file" ||
      cmp -s "set/.$file.ingot-old" "$setup_folder/old/$file"
  done
fi
if [[ $outcome == killed ]]; then
  "$ingot" convert newer.gguf set/m.safetensors --max-size 2M --force -q
  rm -f set/.*.tmp
  diff -r set "$setup_folder/new"
fi
'
modes=(--times 5)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
python3 "$tests/kill_at_random.py" --setup 'cp -r "$setup_folder/old" set; cp "$setup_folder/newer.gguf" .' \
  --check "$check" "${modes[@]}" -- "$ingot" convert newer.gguf set/m.safetensors --max-size 2M --force -q
