# SPDX-License-Identifier: MIT
# The journal of a killed edit: whatever stands at the name of the file afterwards is what is read,
# edits go on, and `check` says that there is a journal.
[[ -n $kill_library ]] || exit 77
shape=(-q --layers 1 --embedding 64 --feed-forward 64 --vocab 300)
"$ingot" sample m0.gguf "${shape[@]}"
"$ingot" edit m0.gguf --in-place -q --set general.name='OLD NAME' \
  --set k.pad:str="$(head -c 3000 /dev/zero | tr '\0' x)"
edit_m=("$ingot" edit m.gguf --in-place -q --set general.name='NEW NAME' --set k.n:u8=1)
cp m0.gguf m.gguf && "${edit_m[@]}" && cp m.gguf edited.gguf
# Other models of the same size and data: of another name, of a part of the edit, and edited.
for name in 'GOOD ONE' 'NEW NAME'; do
  cp m0.gguf "${name// /}.gguf"
  "$ingot" edit "${name// /}.gguf" --in-place -q --set general.name="$name"
done
"$ingot" sample seed.gguf "${shape[@]}" --seed 5

# leave_journal CALL: kills the edit at a call; false if it leaves no journal there.
leave_journal() {
  rm -f m.gguf m.gguf.ingot-journal
  cp m0.gguf m.gguf
  status=0
  (LD_PRELOAD=$kill_library INGOT_KILL_AT=$1 INGOT_HALF=$(($1 % 2)) "${edit_m[@]}" || exit $?) 2>/dev/null ||
    status=$?
  [[ -e m.gguf.ingot-journal ]]
}
left=0
status=137
for ((call = 1; status == 137; ++call)); do
  leave_journal $call || continue
  left=$((left + 1))
  # What Ingot sees is old or new; what others see is in the file, so `check` warns.
  name=$("$ingot" metadata m.gguf --raw general.name 2>/dev/null)
  [[ $name == 'OLD NAME' || $name == 'NEW NAME' ]] || fail "call $call: $name"
  expect 1 "$ingot" check m.gguf >findings 2>/dev/null
  grep -q journal_beside findings || fail "call $call: $(cat findings)"
  others=(GOODONE NEWNAME edited m0 seed)
  # Two of them in turn.
  for other in ${others[call % 5]} ${others[(call + 2) % 5]}; do
    leave_journal $call || fail "call $call: no journal"
    cat $other.gguf >m.gguf  # keeps the inode
    for io in mmap read; do
      "$ingot" metadata m.gguf --raw general.name --io $io 2>notes | cmp - \
        <("$ingot" metadata $other.gguf --raw general.name) || fail "call $call, $other"
      [[ -s notes ]] || fail "call $call, $other: nothing is said"
    done
    cmp m.gguf $other.gguf
    expect 1 "$ingot" check m.gguf --json >findings 2>/dev/null
    grep -q '"journal_beside"' findings || fail "not in JSON"
    "$ingot" edit m.gguf --in-place -q --set k.z:u8=1 || fail "call $call, $other: no edit"
    cp $other.gguf wanted.gguf
    "$ingot" edit wanted.gguf --in-place -q --set k.z:u8=1
    cmp m.gguf wanted.gguf || fail "call $call, $other: another file"
    [[ ! -e m.gguf.ingot-journal ]] || fail "call $call, $other: the journal is still there"
  done
done
((left > 3)) || fail "only $left kills left a journal"
for ((call = 1; call < 20; ++call)); do ! leave_journal $call || break; done
expect 1 "$ingot" check m.gguf --sarif >findings 2>/dev/null
grep -q '"ruleId": "journal_beside"' findings || fail "not in SARIF"

# Whoever replaces the file takes the journal with it.
replace_in_turn() {
  case $1 in
    convert) "$ingot" convert seed.gguf m.gguf --force -q ;;
    sample) "$ingot" sample m.gguf --force "${shape[@]}" ;;
    edit) "$ingot" edit seed.gguf -o m.gguf --force -q --set k.n:u8=2 ;;
    quantize) "$ingot" quantize seed.gguf m.gguf Q8_0 --force -q ;;
    new) rm m.gguf && "$ingot" convert seed.gguf m.gguf -q ;;
  esac
}
for way in convert sample edit quantize new; do
  leave_journal $call
  replace_in_turn $way
  [[ ! -e m.gguf.ingot-journal ]] || fail "$way: the journal is still there"
  "$ingot" edit m.gguf --in-place -q --set general.name=X 2>notes && [[ ! -s notes ]] || fail "$way"
done
# A set: a new key is in its first file.
"$ingot" split m0.gguf s --shards 2 -q
file=s-00001-of-00002.gguf
for ((call = 1; call < 20; ++call)); do
  (LD_PRELOAD=$kill_library INGOT_KILL_AT=$call "$ingot" edit $file --in-place -q --set k.x:u8=1 || true) \
    2>/dev/null
  [[ ! -e $file.ingot-journal ]] || break
done
[[ -e $file.ingot-journal ]] || fail "no journal beside a shard"
"$ingot" split m0.gguf s --shards 2 --force -q
[[ ! -e $file.ingot-journal ]] || fail "split: the journal is still there"
