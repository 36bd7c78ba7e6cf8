# SPDX-License-Identifier: MIT
# Readers say that an edit was cut off and see the old file; the next edit says that it undoes it. A
# file that somebody reads is replaced, and the reader keeps what it has.
"$ingot" sample model.gguf -q
"$ingot" edit model.gguf --in-place --set general.name=old -q
cp model.gguf before.gguf
if [[ -n $kill_library ]]; then
  # The call after which the journal is there and the file is half old and half new.
  for ((call = 1; ; ++call)); do
    status=0
    LD_PRELOAD=$kill_library INGOT_KILL_AT=$call INGOT_HALF=1 "$ingot" edit model.gguf \
      --in-place --set general.name=new -q || status=$?
    ((status == 137)) || fail "no such call: $call, status $status"
    cmp -s model.gguf before.gguf || break
  done 2>/dev/null
  [[ -e model.gguf.ingot-journal ]] || fail "no journal"
  cp model.gguf torn.gguf
  for io in mmap read; do
    [[ $("$ingot" metadata model.gguf --raw general.name --io $io 2>notes) == old ]] || fail "$io"
    grep -q 'was cut off' notes || fail "nothing was said: $(cat notes)"
  done
  "$ingot" edit model.gguf -o other.gguf --set general.name=other -q 2>/dev/null
  [[ $("$ingot" metadata other.gguf --raw general.name) == other ]] || fail "through the journal"
  expect_same model.gguf torn.gguf
  "$ingot" edit model.gguf --dry-run --set general.name=older >/dev/null 2>&1
  expect_same model.gguf torn.gguf
  "$ingot" edit model.gguf --in-place --set general.name=older >/dev/null 2>notes
  grep -q 'was undone first' notes || fail "nothing was said: $(cat notes)"
  [[ ! -e model.gguf.ingot-journal ]] || fail "the journal is still there"
  "$ingot" edit model.gguf --in-place --set general.name=old -q 2>notes
  [[ ! -s notes ]] || fail "said: $(cat notes)"
  expect_same model.gguf before.gguf

  # The disk fails in the middle of the header and does not take the old one back, either.
  for ((call = 1; ; ++call)); do
    status=0
    # Through a pipe: the disk takes no message, either.
    message=$(LD_PRELOAD=$kill_library INGOT_FAIL_AT=$call INGOT_HALF=1 "$ingot" edit model.gguf \
      --in-place --set general.name=new -q 2>&1) || status=$?
    ((status == 4)) || fail "no such call: $call, status $status"
    cmp -s model.gguf before.gguf || break
    [[ ! -e model.gguf.ingot-journal ]] || fail "a journal of an edit that did nothing, call $call"
  done
  [[ -e model.gguf.ingot-journal ]] || fail "no journal"
  for words in 'half done' 'model.gguf.ingot-journal' 'edit the file in place again'; do
    [[ $message == *"$words"* ]] || fail "does not say \"$words\": $message"
  done
  [[ $("$ingot" metadata model.gguf --raw general.name 2>notes) == old ]] || fail "not the old one"
  # What the message advises.
  "$ingot" edit model.gguf --in-place --set general.name=older >/dev/null 2>notes
  grep -q 'was undone first' notes || fail "nothing was said: $(cat notes)"
  [[ ! -e model.gguf.ingot-journal ]] || fail "the journal is still there"
  "$ingot" edit model.gguf --in-place --set general.name=old -q
  expect_same model.gguf before.gguf
fi

# Somebody reads it.
exec 3<model.gguf
"$ingot" edit model.gguf --in-place --set general.name=new >report 2>notes
grep -q 'another program' notes || fail "nothing was said: $(cat notes)"
cmp - before.gguf <&3 || fail "the reader sees another file"
exec 3<&-
[[ $("$ingot" metadata model.gguf --raw general.name) == new ]] || fail "not edited"

# A shard of a set whose replacement was cut off: the next one would put older files back over an edit.
"$ingot" sample whole.gguf -q --layers 2 --embedding 64 --feed-forward 128 --vocab 300
"$ingot" split whole.gguf s --shards 3 -q
mv s-00001-of-00003.gguf .s-00001-of-00003.gguf.ingot-old
cp s-00002-of-00003.gguf second.gguf
expect_error 4 'replacing it was cut off' "$ingot" edit s-00002-of-00003.gguf --in-place -q --set k.n:u8=1
expect_same s-00002-of-00003.gguf second.gguf
"$ingot" split whole.gguf s --shards 3 --force -q
"$ingot" edit s-00002-of-00003.gguf --in-place -q --set k.n:u8=1
