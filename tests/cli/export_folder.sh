# SPDX-License-Identifier: MIT
# A model becomes a folder of Hugging Face's form, from which the same file can be made again.
python3 "$tests/make_model_folder.py" Tiny-Llama
"$ingot" convert Tiny-Llama before.gguf
"$ingot" convert before.gguf Back --names hf --strict
"$ingot" convert Back after.gguf
expect_same before.gguf after.gguf
for file in config.json generation_config.json README.md tokenizer.json tokenizer_config.json \
            model.safetensors model.safetensors.index.json; do
  [[ -s Back/$file ]] || fail "no $file"
done

# Files that exist stay, unless --force replaces them.
expect_error 2 'Back: the file exists; --force replaces it' "$ingot" convert before.gguf Back --names hf
"$ingot" convert before.gguf Back --names hf --force
expect_error 2 'remove it first' \
             "$ingot" convert before.gguf Back --names hf --force --max-size 40K
"$ingot" convert before.gguf Cut --names hf --max-size 40K
files=(Cut/model-*-of-*.safetensors)
((${#files[@]} > 2)) || fail "only ${#files[@]} files"
"$ingot" convert Cut cut.gguf
expect_same before.gguf cut.gguf

# A file of another form that another program puts there meanwhile: never both.
if [[ -n $kill_library ]]; then
  "$ingot" convert before.gguf Race --names hf --max-size 40K
  LD_PRELOAD=$kill_library INGOT_STOP_AT=1 \
    "$ingot" convert before.gguf Race --names hf --max-size 40K --force 2>message &
  for _ in {1..500}; do [[ $(</proc/$!/stat) == *') T '* ]] && break || sleep 0.01; done
  "$ingot" convert before.gguf Race/model.safetensors --force -q
  kill -CONT $!
  expect 2 wait $!
  grep -q 'model.safetensors.*remove it first' message || fail "$(cat message)"
  [[ ! -e Race/model.safetensors.index.json ]] || fail "both: $(ls Race)"
fi

# What would not come back is listed, and refused if that is asked for.
"$ingot" quantize before.gguf q4.gguf Q4_0 -q
"$ingot" convert q4.gguf Listed --names hf 2>listed
grep -q 'lost: general.file_type: ' listed || fail "no line about the type: $(<listed)"
expect_error 3 'would be lost' "$ingot" convert q4.gguf Strict --names hf --strict
[[ ! -e Strict ]] || fail "a refused folder is there"

# Only some architectures have such folders, and a file of tensors is no folder.
cp before.gguf other.gguf
"$ingot" edit other.gguf --in-place --set general.architecture=gpt2
expect_error 3 'gpt2' "$ingot" convert other.gguf Other --names hf
"$ingot" convert before.gguf tensors.safetensors --names hf
[[ -f tensors.safetensors ]] || fail "no file"
expect_error 2 '--strict has no meaning' "$ingot" convert before.gguf t.npz --names hf --strict

# Tensors in an order of their own need no files of their own, unless it has to be kept.
"$ingot" sample sample.gguf -q
"$ingot" convert sample.gguf Few --names hf 2>/dev/null
[[ $(ls Few/*.safetensors) == Few/model.safetensors ]] || fail "$(ls Few)"
