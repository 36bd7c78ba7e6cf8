# SPDX-License-Identifier: MIT
# Links in model folders of strangers: none leads to another file of the user, in whatever is made.
make() { python3 "$tests/make_model_folder.py" "$1"; }
make good
echo '{{ messages }}' >good/chat_template.jinja
"$ingot" convert good plain.gguf -q
echo 'TOPSECRET {{ messages }}' >secret
mkdir outside
cp secret outside/x.jinja
cp good/model.safetensors outside/

# link NAME TARGET: in a copy of the folder the file NAME is a link.
link() {
  rm -rf bad
  cp -r good bad
  rm -rf "bad/$1"
  mkdir -p "$(dirname "bad/$1")"
  ln -s "$2" "bad/$1"
}
refused() {
  expect_error 3 'a link leads out of the folder' "$ingot" convert bad out.gguf
  if "$ingot" quantize bad out.gguf Q8_0 >unwanted_output 2>&1; then fail "$1: it is quantized"; fi
  [[ ! -e out.gguf ]] || fail "$1: there is an output"
  expect 1 "$ingot" check bad >said
  grep -q "error: .*\"$1\".*\[folder_link\]" said || fail "$1: $(cat said)"
  if grep -rqs TOPSECRET said unwanted_output; then fail "$1: the secret is out"; fi
}

echo "# files and folders, relative, absolute, over a second link"
for name in chat_template.jinja tokenizer.json config.json model.safetensors additional_chat_templates/x.jinja \
  tokenizer_config.json generation_config.json; do
  link "$name" "$PWD/secret"
  refused "$name"
done
link chat_template.jinja ../secret
refused chat_template.jinja
link chat_template.jinja second
ln -s ../secret bad/second
refused chat_template.jinja
link additional_chat_templates ../outside
refused additional_chat_templates
link model.safetensors ../outside/model.safetensors
refused model.safetensors

echo "# whatever reads shards by an index"
rm -rf bad
mkdir bad
ln -s ../outside/model.safetensors bad/model-00001-of-00001.safetensors
python 'import json, struct
data = open("good/model.safetensors", "rb").read()
size, = struct.unpack("<Q", data[:8])
names = json.loads(data[8:8 + size])
json.dump({"weight_map": {name: "model-00001-of-00001.safetensors" for name in names}},
          open("bad/model.safetensors.index.json", "w"))'
expect_error 3 'a link leads out of the folder' "$ingot" show bad/model.safetensors.index.json

echo "# a file that nothing reads is reported as well"
link notes.txt ../secret
expect 1 "$ingot" check bad --only folder_link >said
grep -q '"notes.txt"' said || fail "$(cat said)"

echo "# links that stay inside, a folder that is a link, the cache of a hub"
link chat_template.jinja below/template
mkdir bad/below
cp good/chat_template.jinja bad/below/template
expect 0 "$ingot" check bad >/dev/null
ln -s good linked
expect 0 "$ingot" check linked >/dev/null
mkdir -p hub/models--o--good/{blobs,snapshots/good}
for file in good/*; do
  name=${file##*/}
  cp "$file" "hub/models--o--good/blobs/$name-digest"
  ln -s "../../blobs/$name-digest" "hub/models--o--good/snapshots/good/$name"
done
expect 0 "$ingot" check hub/models--o--good/snapshots/good >/dev/null
"$ingot" convert hub/models--o--good/snapshots/good cached.gguf -q
expect_same plain.gguf cached.gguf
rm hub/models--o--good/blobs/chat_template.jinja-digest
ln -s "$PWD/secret" hub/models--o--good/blobs/chat_template.jinja-digest
expect_error 3 'a link leads out of the folder' "$ingot" convert hub/models--o--good/snapshots/good out.gguf
