# SPDX-License-Identifier: MIT
# Whenever an edit is killed, or the disk is full, the file reads as it was or as it should be; its
# data is untouched; and the next edit repairs what is left.
cat >look.sh <<'END'
# look.sh FILE: prints the name in it and the digests of its tensors
"$ingot" metadata "$1" --raw general.name 2>/dev/null | head -c 20
echo
"$ingot" extract "$1" token_embd.weight -o - 2>/dev/null | sha256sum
"$ingot" extract "$1" output.weight -o - 2>/dev/null | sha256sum
END
setup='
"$ingot" sample model.gguf -q
"$ingot" edit model.gguf --in-place --set general.name=old --reserve 4000 -q
cp ../../look.sh .
bash look.sh model.gguf >old
sed 1s/.*/changed/ old >new
'
# $settled: what may be beside the file in the end.
check='
cp model.gguf seen.gguf
! [[ -e model.gguf.ingot-journal ]] || [[ $outcome == killed || $outcome == 4 ]]
bash look.sh model.gguf >now
cmp -s now old || { sed "1s/^changed.*/changed/" now | cmp - new; }
cmp model.gguf seen.gguf  # readers never write
[[ $outcome != 0 ]] || ! cmp -s now old
"$ingot" tensors model.gguf -q >/dev/null
"$ingot" edit model.gguf --in-place --set general.name=changed -q
sed "1s/^changed.*/changed/" <(bash look.sh model.gguf) | cmp - new
[[ ! -e model.gguf.ingot-journal ]]
'
modes=(--times 10)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
long=changed$(head -c 9000 /dev/zero | tr '\0' n)
# In place; into inserted room, where the file system can; into a new file.
for change in 'general.name=changed by a name that fits' "general.name=$long"; do
  python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" -- \
    "$ingot" edit model.gguf --in-place --set "$change"
done
python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" -- \
  "$ingot" edit model.gguf --in-place --set general.name=changed --set general.alignment:uint32=64

# A new file: the old one is never touched, the new one is whole or not there.
check='
bash look.sh model.gguf | cmp - old
if [[ -e out.gguf ]]; then "$ingot" tensors out.gguf >/dev/null; else [[ $outcome != 0 ]]; fi
'
python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" \
  --tmpfs 6000000 -- "$ingot" edit model.gguf -o out.gguf --set general.name=changed
