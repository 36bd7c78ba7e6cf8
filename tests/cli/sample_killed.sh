# SPDX-License-Identifier: MIT
# A process that is killed, at whatever point, or finds the disk full leaves the earlier file or a
# whole new one. Only between naming the new file and renaming it a temporary one can stay.
check='
if head -c 7 out.gguf | grep -qa earlier; then
  [[ $outcome != 0 ]]
else
  [[ $outcome == 0 || $outcome == killed ]]
  "$ingot" tensors out.gguf >/dev/null
fi
case $(ls -A) in
  out.gguf) ;;
  .out.gguf.*.tmp$'\''\n'\''out.gguf) [[ $outcome == killed ]] ;;
  *) ls -A >&2; exit 1 ;;
esac
'
modes=(--times 10 --tmpfs 1000000)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
python3 "$tests/kill_at_random.py" --setup 'echo earlier >out.gguf' --check "$check" "${modes[@]}" \
  -- "$ingot" sample out.gguf --force --params 2M
