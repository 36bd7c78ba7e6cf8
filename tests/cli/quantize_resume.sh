# SPDX-License-Identifier: MIT
# A run that is killed, at whatever point, leaves whole results or parts; the same run with --resume
# makes the rest of it and leaves nothing else. What was finished is not made again, and nothing
# that was changed is trusted.
"$ingot" sample m.gguf --layers 1 --embedding 64 --feed-forward 128 --vocab 300 -q
cp m.gguf source.gguf
export original=$PWD
for type in Q8_0 Q4_0; do "$ingot" quantize m.gguf m-$type.gguf $type -q; done
modes=(--times 3)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library")

# --- killed, then resumed: several results, whichever way it was started
check='
for name in out/*.gguf; do
  [[ ! -e $name ]] || cmp "$name" "$original/${name#out/}"
done
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir out -j 2 -q --resume
for name in m-Q4_0.gguf m-Q8_0.gguf; do cmp "out/$name" "$original/$name"; done
[[ $(ls -A out) == $'\''m-Q4_0.gguf\nm-Q8_0.gguf'\'' ]]
'
for more in "" --resume; do
  # shellcheck disable=SC2086
  python3 "$tests/kill_at_random.py" --setup 'cp -p "$original/source.gguf" m.gguf' --check "$check" \
    "${modes[@]}" -- "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir out -j 2 -q $more
done

# --- one result, over an older one
check='
head -c 5 one.gguf | grep -q older || cmp one.gguf "$original/m-Q8_0.gguf"
"$ingot" quantize m.gguf one.gguf Q8_0 --force --resume -q
cmp one.gguf "$original/m-Q8_0.gguf"
[[ $outcome != killed ]] || rm -f .*.tmp
[[ $(ls -A) == $'\''m.gguf\none.gguf'\'' ]]
'
python3 "$tests/kill_at_random.py" --setup 'cp -p "$original/source.gguf" m.gguf; echo older >one.gguf' \
  --check "$check" "${modes[@]}" -- "$ingot" quantize m.gguf one.gguf Q8_0 --force --resume -q

# --- what is there is used if it is whole, and only then
[[ -n $kill_library ]] || exit 0
# A run that was killed when all is written, but nothing has its name.
cut_off() {
  rm -rf part
  (LD_PRELOAD=$kill_library INGOT_COUNT_CALLS=calls "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q)
  local calls
  for ((calls = $(cat calls); calls > 0; calls--)); do
    rm -rf part
    (LD_PRELOAD=$kill_library INGOT_KILL_AT=$calls "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 \
      --to-dir part -q) 2>/dev/null || true
    [[ -e part/m-Q8_0.gguf.ingot-quantizing && -e part/m-Q4_0.gguf.ingot-quantizing ]] && return
  done
  fail "no kill leaves both parts"
}
tensors=$("$ingot" tensors m.gguf --json | grep -c '"name"')
cut_off
for name in part/*.notes; do
  (($(stat -c %s "$name") > 100 * tensors)) || fail "the notes of $name do not name all $tensors tensors"
done
LD_PRELOAD=$kill_library INGOT_COUNT_CALLS=fewer "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 \
  --to-dir part -q --resume --json >resumed.json
(($(cat fewer) < $(cat calls) / 2)) || fail "$(cat fewer) calls of $(cat calls): tensors were made again"
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir again -q --json >again.json
sed 's/part\///' resumed.json >a.json
sed 's/again\///' again.json >b.json
expect_same a.json b.json
# A byte that is wrong, in the part of one.
cut_off
printf '\xff' | dd of=part/m-Q8_0.gguf.ingot-quantizing bs=1 seek=30000 conv=notrunc status=none
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q --resume
expect_same m-Q8_0.gguf part/m-Q8_0.gguf
# Another source of the same size and names, another option, a damaged note.
cut_off
"$ingot" sample m.gguf --layers 1 --embedding 64 --feed-forward 128 --vocab 300 --seed 9 --force -q
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q --resume
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir other -q
expect_same other/m-Q8_0.gguf part/m-Q8_0.gguf
cut_off
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part --effort best -q --resume 2>/dev/null
"$ingot" quantize m.gguf m-best.gguf Q4_0 --effort best -q 2>/dev/null
expect_same m-best.gguf part/m-Q4_0.gguf
cut_off
printf '\xff' | dd of=part/m-Q8_0.gguf.ingot-quantizing.notes bs=1 seek=200 conv=notrunc status=none
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q --resume
expect_same other/m-Q8_0.gguf part/m-Q8_0.gguf
[[ $(ls -A part) == $'m-Q4_0.gguf\nm-Q8_0.gguf' ]] || fail "$(ls -A part)"
# A run without --resume begins anew; one that is wrong leaves no part; another file is in the way.
cut_off
"$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q
[[ $(ls -A part) == $'m-Q4_0.gguf\nm-Q8_0.gguf' ]] || fail "$(ls -A part)"
echo other >part/m-Q8_0.gguf
expect_error 2 'the file exists' "$ingot" quantize m.gguf --to Q8_0 --to-dir part -q --resume
[[ $(ls -A part) == $'m-Q4_0.gguf\nm-Q8_0.gguf' ]] || fail "$(ls -A part)"
# A failure keeps what is finished: a limit that is too small, a weight that is NaN, a name that was taken meanwhile.
cut_off
expect_error 2 'max-memory' "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q --resume --max-memory 1M
[[ -e part/m-Q8_0.gguf.ingot-quantizing && -e part/m-Q4_0.gguf.ingot-quantizing ]] || fail "$(ls -A part)"
size=$(stat -c %s other/m-Q8_0.gguf)
cp other/m-Q8_0.gguf part/m-Q8_0.gguf
printf '\xff' | dd of=part/m-Q8_0.gguf bs=1 seek=$((size - 9)) conv=notrunc status=none
chmod 640 part/m-Q8_0.gguf
expect_error 2 '--force replaces it; resume goes on' "$ingot" quantize m.gguf --to Q8_0 --to-dir part -q --resume
LD_PRELOAD=$kill_library INGOT_COUNT_CALLS=fewer "$ingot" quantize m.gguf --to Q8_0 --to Q4_0 --to-dir part -q \
  --resume --force
(($(cat fewer) < $(cat calls) / 2)) || fail "$(cat fewer) calls of $(cat calls): tensors were made again"
expect_same other/m-Q8_0.gguf part/m-Q8_0.gguf
[[ $(stat -c %a part/m-Q8_0.gguf) == 640 ]] || fail "the permissions of the replaced file are gone"
[[ $(ls -A part) == $'m-Q4_0.gguf\nm-Q8_0.gguf' ]] || fail "$(ls -A part)"
# An earlier report is not replaced.
echo earlier >errors.json
expect_error 2 'the file exists' "$ingot" quantize m.gguf --to Q8_0 --to-dir part -q --resume --report errors.json
[[ $(cat errors.json) == earlier ]] || fail "the report was replaced"
expect_error 2 '--shard I/N' "$ingot" quantize m.gguf set.gguf Q8_0 --shards 2 --resume
