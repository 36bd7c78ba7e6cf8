# SPDX-License-Identifier: MIT
# Targets that are the input, folders, read-only places and sets of shards.
"$ingot" sample model.gguf -q
cp model.gguf before.gguf
mkdir folder links
ln model.gguf links/hard.gguf
ln -s ../model.gguf links/soft.gguf
for target in model.gguf ./model.gguf links/hard.gguf links/soft.gguf; do
  expect_error 2 'same file' "$ingot" edit model.gguf -o "$target" --force --set general.name=X
done
"$ingot" edit model.gguf -o folder --set general.name=X -q
[[ -f folder/model.gguf ]] || fail "no file in the folder"
expect_error 4 '"nowhere/x.gguf": cannot create the output: No such file' \
  "$ingot" edit model.gguf -o nowhere/x.gguf --set general.name=X
expect_same model.gguf before.gguf

# The other name of a file keeps the old model.
"$ingot" edit model.gguf --in-place --set general.name=X -q
expect_same links/hard.gguf before.gguf
"$ingot" edit links/soft.gguf --in-place --set general.name=Y -q
[[ -L links/soft.gguf ]] || fail "the link is gone"
[[ $("$ingot" metadata model.gguf --raw general.name) == Y ]] || fail "through a link"

# A folder in which nothing can be made: not even a journal.
if ((EUID == 0)); then
  as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  if ! "${as_user[@]}" true 2>/dev/null || ! "${as_user[@]}" "$ingot" --version >/dev/null 2>&1; then
    as_user=()
  fi
else
  as_user=(env)
fi
if ((${#as_user[@]})); then
  mkdir locked
  cp before.gguf locked/model.gguf
  chmod 666 locked/model.gguf
  chmod 755 . ..
  chmod 555 locked
  for target in "--in-place" "-o locked/new.gguf"; do
    # shellcheck disable=SC2086
    expect_error 4 'Permission denied' "${as_user[@]}" "$ingot" edit locked/model.gguf $target \
      --set general.name=X
  done
  expect_same locked/model.gguf before.gguf
  [[ $(ls -A locked) == model.gguf ]] || fail "left behind: $(ls -A locked)"
  chmod 755 locked
fi

# A set: a key is changed in each file that has it, a new one goes into the first file, and a tensor
# is found wherever it is.
python3 "$tests/make_shards.py" set
cp set-00003-of-00003.gguf third.gguf
"$ingot" edit set-00003-of-00003.gguf --in-place --set general.name='Other shards' \
  --set new.key:string=new -q
"$ingot" metadata set-00001-of-00003.gguf general.name new.key
expect_same set-00003-of-00003.gguf third.gguf
"$ingot" edit set-00001-of-00003.gguf --in-place -q --rename-tensor blk.2.ffn_up.weight=last
"$ingot" tensors set-00001-of-00003.gguf
"$ingot" edit set-00001-of-00003.gguf --in-place -q --remove-tensor last --remove '*.block_count'
"$ingot" show set-00001-of-00003.gguf >/dev/null 2>notes
[[ ! -s notes ]] || fail "the set is not consistent: $(cat notes)"
expect_error 2 'in-place' "$ingot" edit set-00001-of-00003.gguf -o x.gguf --set general.name=X
expect_error 1 'no key' "$ingot" edit set-00001-of-00003.gguf --in-place --remove split.no
