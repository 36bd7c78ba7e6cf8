# SPDX-License-Identifier: MIT
# `merge --delete-shards` removes exactly what it has read: edits that ended with 0 and sets that
# another program put there stay. $INGOT_ROUNDS: how often; 100 in scripts/nightly.
rounds=${INGOT_ROUNDS:-5}
shape=(-q --layers 2 --embedding 64 --feed-forward 128 --vocab 300)
"$ingot" sample a.gguf "${shape[@]}"
"$ingot" sample b.gguf "${shape[@]}" --seed 7
"$ingot" split b.gguf b --shards 3 -q
shards() { compgen -G 's-*-of-00003.gguf' | wc -l; }
fresh() { rm -f s-* m.gguf && "$ingot" split a.gguf s --shards 3 -q; }
merge=(merge s-00001-of-00003.gguf m.gguf --delete-shards)

fresh
"$ingot" "${merge[@]}" --json >report
[[ $(shards) == 0 ]] && cmp m.gguf a.gguf || fail "shards are left: $(ls)"
grep -q '"kept": \[\]' report || fail "$(cat report)"

# --- what happens while it works --------------------------------------------------------------------
# stop_while_merging COMMAND...: runs the command while the merge has read and not yet removed; the
# status of the merge is in $status.
stop_while_merging() {
  fresh
  LD_PRELOAD=$kill_library INGOT_STOP_AT=1 "$ingot" "${merge[@]}" >report 2>message &
  local merging=$!
  for _ in {1..500}; do [[ $(</proc/$merging/stat) == *') T '* ]] && break || sleep 0.01; done
  "$@"
  kill -CONT $merging
  status=0
  wait $merging || status=$?
}
edit_is_refused() {
  expect_error 4 'another program uses the file' "$ingot" edit s-00002-of-00003.gguf --in-place \
    --no-wait --set k.n:u8=1
  expect_error 4 'another program uses the file' "$ingot" split b.gguf s --shards 3 --force --no-wait
}
if [[ -n $kill_library ]]; then
  stop_while_merging edit_is_refused
  ((status == 0)) && [[ $(shards) == 0 ]] || fail "status $status: $(ls)"
  # Other programs know no locks.
  for change in 'cp b-00002-of-00003.gguf s-00002-of-00003.gguf' \
    'cp b-00003-of-00003.gguf new && mv new s-00003-of-00003.gguf' 'touch s-00001-of-00003.gguf' \
    'rm s-00002-of-00003.gguf && cp b-00002-of-00003.gguf s-00002-of-00003.gguf'; do
    stop_while_merging bash -c "$change"
    ((status == 4)) || fail "$change: status $status"
    grep -q 'not removed: changed since it was read, so all shards stay' message ||
      fail "$change: $(cat message)"
    [[ $(shards) == 3 && -e m.gguf ]] || fail "$change: $(ls)"
  done
  # Another merge reads them, too.
  stop_while_merging "$ingot" merge s-00001-of-00003.gguf other.gguf --delete-shards -q 2>other || true
  grep -q 'not removed: .*another program uses the file' other || fail "$(cat other)"
  ((status == 0)) && [[ $(shards) == 0 ]] || fail "status $status: $(ls)"
fi

# --- at random moments ------------------------------------------------------------------------------
for ((round = 1; round <= rounds; ++round)); do
  fresh
  "$ingot" "${merge[@]}" -q 2>message &
  sleep 0.00$((RANDOM % 10))
  edited=0
  "$ingot" edit s-00001-of-00003.gguf --in-place -q --set k.n:u8=1 >/dev/null 2>&1 || edited=$?
  wait $! || true
  ((edited != 0)) || "$ingot" metadata m.gguf k.n 2>/dev/null | grep -q k.n ||
    "$ingot" metadata s-00001-of-00003.gguf k.n 2>/dev/null | grep -q k.n || fail "an edit is lost"
  fresh
  "$ingot" "${merge[@]}" -q 2>message &
  sleep 0.0$((RANDOM % 3))$((RANDOM % 10))
  replaced=0
  "$ingot" split b.gguf s --shards 3 --force -q 2>replacing || replaced=$?
  wait $! || true
  ((replaced == 0)) || fail "the set cannot be replaced: $(cat replacing)"
  # Merged and removed after it was replaced, or there.
  if [[ $(shards) == 0 ]]; then
    cmp m.gguf b.gguf || fail "a new set is lost"
  else
    for i in 1 2 3; do cmp s-0000$i-of-00003.gguf b-0000$i-of-00003.gguf || fail "in part: $(ls)"; done
  fi
done
