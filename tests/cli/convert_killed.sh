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
