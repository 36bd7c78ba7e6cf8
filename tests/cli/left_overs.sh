# SPDX-License-Identifier: MIT
# What a kill leaves under a temporary name is gone after the next run of the command.
[[ -n $kill_library ]] || exit 77
shape=(--layers 4 --embedding 64 --feed-forward 128 --vocab 300 -q)
"$ingot" sample model.gguf "${shape[@]}" --type F16
"$ingot" split model.gguf set --shards 3 -q
temporary_files() { find . -name '.*.tmp'; }

# is_mended COMMAND...: kills the command where it leaves a file, which happens between two calls
# of those that name it, and runs it again.
is_mended() {
  local call status=137
  for ((call = 1; status == 137; ++call)); do
    status=0
    LD_PRELOAD=$kill_library INGOT_KILL_AT=$call "$@" -q || status=$?
    [[ -z $(temporary_files) ]] || break
  done 2>/dev/null  # also what bash says of each kill
  ((status == 137)) || fail "never left a file: $*, status $status at call $call"
  "$@" -q 2>notes || fail "$(cat notes)"
  [[ -z $(temporary_files) ]] || fail "left over by $*: $(temporary_files)"
}

"$ingot" sample out.gguf -q
is_mended "$ingot" sample out.gguf --force
# Of another alignment it is a new file, also in place.
is_mended "$ingot" edit out.gguf --in-place --set general.alignment:uint32=64
for command in "split model.gguf out --shards 3" \
  "quantize set-00001-of-00003.gguf q.gguf Q8_0 --keep-split" \
  "convert model.gguf out.safetensors --max-size 200K"; do
  # shellcheck disable=SC2086
  "$ingot" $command -q
  # shellcheck disable=SC2086
  is_mended "$ingot" $command --force
done
