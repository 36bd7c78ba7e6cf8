# SPDX-License-Identifier: MIT
# Ctrl-C in the middle of edit, split, merge and hash: status 130, nothing left behind, and what was
# there is as it was.
"$ingot" sample large.gguf --params 200M -q
mkdir folder set
"$ingot" split large.gguf set/part --shards 2 -q
cp --reflink=auto large.gguf copy.gguf
sha256sum set/* >sums
# interrupt COMMAND...: with an earlier file in its way
interrupt() {
  local status=0
  echo earlier >folder/out
  mkfifo progress
  "$ingot" "$@" --progress always -q 2>progress &
  local pid=$!
  # The first piece of the bar says that the work has begun.
  head -c 1 progress >/dev/null
  kill -INT "$pid"
  wait "$pid" || status=$?
  ((status == 130)) || fail "$1: status $status"
  rm progress
  [[ $(cat folder/out) == earlier ]] || fail "$1: the earlier file is gone"
  [[ $(ls -A folder) == out ]] || fail "$1: left behind: $(ls -A folder)"
}
interrupt edit large.gguf -o folder/out --set general.name=changed --force
interrupt split large.gguf folder/new --shards 3
interrupt merge set/part-00001-of-00002.gguf folder/out --force
interrupt hash large.gguf -o folder/out --force
interrupt edit large.gguf --in-place --set general.alignment:uint32=64
cmp large.gguf copy.gguf
sha256sum --check --quiet sums
[[ $(ls -A) == $'copy.gguf\nfolder\nlarge.gguf\nset\nsums' ]] || fail "left behind: $(ls -A)"
