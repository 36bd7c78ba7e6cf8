# SPDX-License-Identifier: MIT
# Several edits at once: each that ends with 0 is in the file, whatever ways they take and whichever
# of them is killed. $INGOT_ROUNDS: how often; 100 in scripts/nightly.
rounds=${INGOT_ROUNDS:-5}
"$ingot" sample original.gguf --params 500K -q

value_of() { "$ingot" metadata "$1" "$2" | awk '{ print $3 }'; }

# run_together COMMAND: runs `COMMAND I` for I = 1..8 at once; the statuses are in $statuses.
run_together() {
  local i pids=()
  for i in {1..8}; do "$1" "$i" & pids+=($!); done
  statuses=()
  for i in {0..7}; do
    local status=0
    wait "${pids[i]}" || status=$?
    statuses+=("$status")
  done
}

# A key that fits, or does not: in place, inserted or copied.
edit_one() {
  "$ingot" edit m.gguf --in-place --set "k.n$1:u32=$round" \
    --set "k.text$1:string=$(head -c $((round % 3 * 2000)) /dev/zero | tr '\0' x)" -q
}
refused_rounds=0
for ((round = 1; round <= rounds; ++round)); do
  # Every second time the keys are there already.
  ((round % 2 == 0)) || cp original.gguf m.gguf
  ((round % 5 != 0)) || ln -f m.gguf other-name.gguf
  run_together edit_one
  refused=0
  for i in {1..8}; do
    ((statuses[i - 1] == 0)) || { refused=1; continue; }
    [[ $(value_of m.gguf "k.n$i") == "$round" ]] || fail "round $round: edit $i is lost"
  done
  refused_rounds=$((refused_rounds + refused))
  rm -f other-name.gguf
  [[ $(ls -A) == $'m.gguf\noriginal.gguf' ]] || fail "left over: $(ls -A)"
done
((refused_rounds * 100 <= rounds)) || fail "in $refused_rounds of $rounds rounds an edit was refused"
for file in m original; do "$ingot" hash "$file.gguf" --no-file | sed 1d >"$file.sums"; done
expect_same m.sums original.sums

# A set of shards, whose files are locked in their order; and one output of several.
"$ingot" split original.gguf set --shards 3 -q
edit_shards() {
  "$ingot" edit "set-0000$(($1 % 3 + 1))-of-00003.gguf" --in-place --set "k.n$1:u32=$1" -q
}
run_together edit_shards
[[ ${statuses[*]} == '0 0 0 0 0 0 0 0' ]] || fail "statuses: ${statuses[*]}"
for i in {1..8}; do
  [[ $(value_of set-00001-of-00003.gguf "k.n$i") == "$i" ]] || fail "edit $i is lost"
done
edit_to_output() { "$ingot" edit original.gguf -o out.gguf --force --set "k.n$1:u32=$1" -q; }
run_together edit_to_output
[[ ${statuses[*]} == '0 0 0 0 0 0 0 0' ]] || fail "statuses: ${statuses[*]}"
"$ingot" hash out.gguf --no-file | sed 1d >out.sums
expect_same out.sums original.sums

# Who waits says so, for whom; who does not fails at once.
if command -v flock >/dev/null; then
  flock --close m.gguf sleep 60 >/dev/null 2>&1 &
  holder=$!
  until ! flock -n m.gguf true; do sleep 0.01; done
  expect_error 4 'another program uses the file' "$ingot" edit m.gguf --in-place --no-wait --set k.n1=7
  [[ ! -r /proc/locks ]] ||
    expect_error 4 'locked by ' "$ingot" edit m.gguf --in-place --no-wait --set k.n1=7
  expect_error 4 'another program uses the file' \
    "$ingot" sample m.gguf --force --no-wait --params 500K
  : >notes
  "$ingot" edit m.gguf --in-place --set k.n1=7 >/dev/null 2>>notes &
  waiting=$!
  for _ in {1..1000}; do grep -q 'm.gguf: waiting up to 10 s' notes && break || sleep 0.01; done
  kill "$holder"
  wait "$waiting" || fail "said: $(cat notes)"
  grep -q 'm.gguf: waiting up to 10 s' notes || fail "said: $(cat notes)"
  [[ $(value_of m.gguf k.n1) == 7 ]] || fail "not edited"
fi

# A reader opens the file, and an edit that makes it longer ends before the reader looks for a journal.
if [[ -n $kill_library ]]; then
  "$ingot" edit original.gguf -o longer.gguf --set "k.text:string=$(head -c 9000 /dev/zero | tr '\0' x)" -q
  cp original.gguf read.gguf
  LD_PRELOAD=$kill_library INGOT_STOP_AT_JOURNAL=1 "$ingot" tensors read.gguf >found 2>&1 &
  for _ in {1..500}; do [[ $(</proc/$!/stat) == *') T '* ]] && break || sleep 0.01; done
  cat longer.gguf >read.gguf  # in place
  kill -CONT $!
  wait $! || fail "the size is that of before: $(cat found)"
  rm read.gguf longer.gguf
fi

# Of two editors one is killed, at whatever point: the other one's key is there, and no journal
# after the next edit.
if [[ -n $kill_library ]]; then
  for ((round = 1; round <= 2 * rounds; ++round)); do
    cp original.gguf m.gguf
    (LD_PRELOAD=$kill_library INGOT_KILL_AT=$((round % 17 + 1)) INGOT_HALF=$((round % 2)) \
      "$ingot" edit m.gguf --in-place --set k.killed:u32=1 -q || true) 2>/dev/null &
    "$ingot" edit m.gguf --in-place --set k.kept:u32=2 -q 2>/dev/null
    wait
    [[ $(value_of m.gguf k.kept 2>/dev/null) == 2 ]] || fail "round $round: lost"
    "$ingot" edit m.gguf --in-place --set k.last:u32=3 -q 2>/dev/null
    [[ $(value_of m.gguf k.kept) == 2 ]] || fail "round $round: lost later"
    ! compgen -G '.m.gguf*' && [[ ! -e m.gguf.ingot-journal ]] || fail "round $round: $(ls -A)"
    "$ingot" hash m.gguf --no-file | sed 1d | cmp - original.sums
  done
fi
