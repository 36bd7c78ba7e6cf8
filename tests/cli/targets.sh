# SPDX-License-Identifier: MIT
# Outputs of convert, split, merge and hash that are the input under another name, folders, or in a
# folder where nothing can be made: refused, and nothing is changed. (edit: edit_targets.sh)
"$ingot" sample model.gguf --type F16 --layers 1 --embedding 64 --feed-forward 128 --vocab 300 -q
"$ingot" split model.gguf part --shards 2 -q
mkdir folder folder-00002-of-00002.gguf linked
ln model.gguf hard.gguf
ln -s model.gguf soft.gguf
ln model.gguf linked/new-00001-of-00002.gguf
ln -s ../model.gguf linked/new-00002-of-00002.gguf
sha256sum model.gguf part-* >sums
before=$(ls -AR)

for out in model.gguf ./model.gguf hard.gguf soft.gguf; do
  for format in gguf safetensors npz; do
    expect_error 2 'same file' "$ingot" convert model.gguf "$out" --to "$format" --force
  done
done
expect_error 2 'same file' "$ingot" convert part-00001-of-00002.gguf part-00002-of-00002.gguf --force
expect_error 2 'same file' "$ingot" split model.gguf linked/new --shards 2 --force
# A folder gets files of the model's name.
for format in gguf safetensors npz; do
  "$ingot" convert model.gguf folder --to "$format" -q
  rm "folder/model-F16.$format"
done
"$ingot" split model.gguf folder --shards 2 -q
rm folder/model-0000[12]-of-00002.gguf
"$ingot" merge part-00001-of-00002.gguf folder -q
rm folder/part.gguf
expect_error 3 'directory; give a file name' "$ingot" hash model.gguf -o folder --force
sha256sum --check --quiet sums
[[ $(ls -AR) == "$before" ]] || fail "changed: $(ls -AR)"

# --- a folder in which nothing can be made ---------------------------------------------------------
as_user=(env)
((EUID != 0)) || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 . ..
"${as_user[@]}" "$ingot" --version >/dev/null 2>&1 || {
  echo "skipped: no other user can be had" >&2
  exit 0
}
mkdir locked
cp model.gguf part-* locked
chmod 666 locked/*
chmod 555 locked
# The same, but that there are files of the names of the outputs, which anybody may write.
mkdir crowded
cp model.gguf part-* crowded
for name in out out-00001-of-00002.gguf out-00002-of-00002.gguf; do echo earlier >crowded/$name; done
chmod 666 crowded/*
chmod 555 crowded
for folder in locked crowded; do
  (cd "$folder" && sha256sum ./*) >"$folder.sums"
  for command in "convert model.gguf out --to gguf" "convert model.gguf out --to safetensors" \
    "convert model.gguf out --to npz" "split model.gguf out --shards 2" \
    "merge part-00001-of-00002.gguf out" "hash model.gguf -o out"; do
    # shellcheck disable=SC2086
    (cd "$folder" && message=$("${as_user[@]}" "$ingot" $command --force 2>&1) && exit 1
      [[ $message == *'Permission denied'* ]] || fail "$command: $message") || fail "$command"
  done
  (cd "$folder" && sha256sum --check --quiet "../$folder.sums")
  [[ $(ls -A "$folder" | wc -l) == $(wc -l <"$folder.sums") ]] || fail "$(ls -A "$folder")"
  chmod 755 "$folder"
done
