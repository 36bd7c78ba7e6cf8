# SPDX-License-Identifier: MIT
# Who opens a set, or edits one of its files, while it is replaced sees one set or the other, as a
# whole. $INGOT_ROUNDS: how often; 100 in scripts/nightly.
rounds=${INGOT_ROUNDS:-5}
shape=(-q --layers 2 --embedding 64 --feed-forward 128 --vocab 300)
for seed in 1 2; do
  "$ingot" sample $seed.gguf "${shape[@]}" --seed $seed
  "$ingot" hash $seed.gguf --no-file | sed 1d >$seed.sums
done
"$ingot" split 1.gguf s --shards 3 -q
look() {
  "$ingot" hash "s-0000$1-of-00003.gguf" --no-file 2>message | sed 1d >"$2" || fail "$(cat message)"
  cmp -s "$2" 1.sums || cmp -s "$2" 2.sums || fail "of both: $(cat message)"
}

# The writer stops at each moment between the first older file that goes and the last new one.
if [[ -n $kill_library ]]; then
  for ((call = 1; ; ++call)); do
    LD_PRELOAD=$kill_library INGOT_STOP_AT=$call "$ingot" split $((call % 2 + 1)).gguf s --shards 3 \
      --force -q &
    writer=$!
    until state=$(cat /proc/$writer/stat 2>/dev/null || echo '(gone) Z ') && [[ $state == *') '[TZ]' '* ]]; do
      sleep 0.005
    done
    is_running=0
    [[ $state == *') Z '* ]] || is_running=1
    look $((call % 3 + 1)) found &
    reader=$!
    "$ingot" edit "s-0000$(((call + 1) % 3 + 1))-of-00003.gguf" --in-place -q --set "k.n:u32=$call" \
      2>editing &
    editor=$!
    sleep 0.02
    kill -CONT $writer 2>/dev/null || true
    wait $writer || fail "call $call: the writer"
    wait $reader || fail "call $call: the reader"
    wait $editor || fail "call $call: the editor: $(cat editing)"
    ((is_running)) || break
  done
  ((call > 20)) || fail "only $call calls"
fi

for ((round = 1; round <= rounds; ++round)); do
  "$ingot" split $((round % 2 + 1)).gguf s --shards 3 --force -q &
  writer=$!
  for i in 1 2 3; do look $i found; done
  wait $writer || fail "round $round: the writer"
done
