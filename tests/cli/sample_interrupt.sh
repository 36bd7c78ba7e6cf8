# SPDX-License-Identifier: MIT
# Ctrl-C in the middle of the writing leaves nothing behind, and the earlier file as it was.
mkdir folder
echo "earlier" >folder/out.gguf
for signal in INT TERM; do
  mkfifo progress
  "$ingot" sample folder/out.gguf --params 500M --force --progress always 2>progress &
  pid=$!
  # The first piece of the bar says that data is being written.
  head -c 1 progress >/dev/null
  kill -"$signal" "$pid"
  status=0
  wait "$pid" || status=$?
  ((status == 128 + $(kill -l "$signal"))) || fail "$signal: status $status"
  [[ $(cat folder/out.gguf) == earlier ]] || fail "$signal: the earlier file is gone"
  [[ $(ls -A folder) == out.gguf ]] || fail "$signal: left behind: $(ls -A folder)"
  rm progress
done
