# SPDX-License-Identifier: MIT
# What can stand at the cursor, and that bash, zsh and fish make it of it.
"$ingot" sample "my model.gguf" --layers 1 -q
"$ingot" sample plain.gguf --layers 1 -q
mkdir folder && touch folder/one.gguf

# offers LINE: what fits at the end of the line, on one line.
offers() { "$ingot" --complete bash "ingot $1" '=:' | cut -f 1 | paste -sd ' '; }
expect_offer() {
  local offer
  offer=$(offers "$1")
  [[ $offer == "$2" ]] || fail "\"$1\" is completed by \"$offer\""
}

expect_offer "ten" "words tensors"
expect_offer "-j 2 ten" "words tensors"  # the number is no command
expect_offer "help ext" "words extract"
expect_offer "plain" files  # a FILE alone is shown
expect_offer "show " files
expect_offer "diff a b " words
expect_offer "tensors --so" "words --sort"
expect_offer "tensors --sort " "words name size offset"
expect_offer "tensors --sort=n" "words name"
expect_offer "show --io " "words mmap read"
expect_offer "show -j " words
expect_offer "show -- --jso" files
expect_offer "merge a --output=pa" files
expect_offer "imatrix m" "words merge"
expect_offer "cache " "words list size path clear"
expect_offer "quantize in.gguf q6" "files Q6_K"
expect_offer "quantize in.gguf out.gguf Q8" "words Q8_0"
expect_offer "quantize in.gguf --output-tensor-type bf" "words BF16"
expect_offer "quantize in.gguf --tensor-type attn=q6" "words Q6_K"
expect_offer "hash -a sha256,xxh6" "words sha256,xxh64"
expect_offer "check --fail-on error,se" "words error,security"
expect_offer "check --only key_emp" "words key_empty"
expect_offer "convert a.gguf b.gguf --type F3" "words F32"

# Keys and tensors are those of the model, which may have blanks in its name; without one, the
# standard keys.
expect_offer "metadata 'my model.gguf' llama.block" "words llama.block_count"
expect_offer 'metadata my\ model.gguf llama.block' "words llama.block_count"
expect_offer 'metadata "my model.gguf" --raw llama.block' "words llama.block_count"
expect_offer "edit plain.gguf --set llama.block" "words llama.block_count="
expect_offer "edit plain.gguf --set-file tokenizer.ggml.pre=" files
expect_offer "edit --rename-key general.li" "words general.license= general.license.name= general.license.link="
expect_offer "tensors plain.gguf blk.0.attn_k" "words blk.0.attn_k.weight"
expect_offer "extract plain.gguf output_" "words output_norm.weight"
expect_offer "edit plain.gguf --rename-tensor output_" "words output_norm.weight="
"$ingot" --complete words quantize in.gguf Q6_ | grep -q '^Q6_K	6 bits' || fail "no meaning"

# A name that cannot be typed is not offered, a pipe is not waited for, a server is not asked.
"$ingot" edit plain.gguf --rename-tensor output.weight=$'out\nput' -o odd.gguf -q
expect_offer "tensors odd.gguf out" "words output_norm.weight"
mkfifo pipe.gguf
expect_offer "tensors pipe.gguf blk" words
expect_offer "tensors hf:org/model blk" words
expect_error 2 'bash LINE BREAKS' "$ingot" --complete
expect_error 2 'bash LINE BREAKS' "$ingot" --complete fish x
"$ingot" --help | grep complete && fail "help names what is not for people"

# The shells, as people use them: LINE, a tab, and what the line has become.
mkdir bin && ln -s "$ingot" bin/ingot
PATH=$PWD/bin:$PATH
for shell in bash zsh fish; do
  "$ingot" --generate "$shell" >"ingot.$shell"
  command -v "$shell" >/dev/null && "$shell" -n "ingot.$shell"
done
typed=(
  'ingot ten|ingot tensors '
  'ingot show my|ingot show my\ model.gguf '
  'ingot show "my m|ingot show "my model.gguf" '
  'ingot show folder/|ingot show folder/one.gguf '
  'ingot tensors my\ model.gguf blk.0.attn_k|ingot tensors my\ model.gguf blk.0.attn_k.weight '
  'ingot show --io=mm|ingot show --io=mmap '
  'ingot quantize plain.gguf q6|ingot quantize plain.gguf Q6_K '
  'ingot edit plain.gguf --set llama.block|ingot edit plain.gguf --set llama.block_count='
  'ingot edit plain.gguf --set-file general.name=my|ingot edit plain.gguf --set-file general.name=my\ model.gguf '
)
mkdir zsh && mv ingot.zsh zsh/_ingot
declare -A script=([bash]=$PWD/ingot.bash [zsh]=$PWD/zsh/_ingot)
for shell in bash zsh; do
  if ! command -v "$shell" >/dev/null; then
    echo "skipped: there is no $shell" >&2
    continue
  fi
  python3 "$tests/complete_by_shell.py" "$shell" "${script[$shell]}" "${typed[@]%%|*}" >"$shell.lines"
  printf '%s\n' "${typed[@]#*|}" >wanted.lines
  expect_same wanted.lines "$shell.lines"
done
if command -v fish >/dev/null; then
  expect_fish() {
    local offer
    offer=$(HOME=$PWD fish --no-config -c "source ingot.fish; complete -C \"$1\"" 2>/dev/null | cut -f 1 | paste -sd ' ')
    [[ $offer == "$2" ]] || fail "fish completes \"$1\" by \"$offer\""
  }
  expect_fish "ingot ten" tensors
  expect_fish "ingot tensors --sort " "name offset size"
  expect_fish "ingot show my" "my model.gguf"
  expect_fish "ingot show folder/" folder/one.gguf
  expect_fish "ingot tensors 'my model.gguf' blk.0.attn_k" blk.0.attn_k.weight
  expect_fish "ingot edit plain.gguf --set llama.block_c" llama.block_count=
  expect_fish "ingot edit plain.gguf --set-file general.name=my" "general.name=my model.gguf"
else
  echo "skipped: there is no fish" >&2
fi
