# SPDX-License-Identifier: MIT
# Hugging Face folders: faults are found before the import, in folders below others too.
make() { python3 "$tests/make_model_folder.py" "$1"; }
mkdir uploads
make uploads/good
expect 0 "$ingot" check uploads/good >said
grep -qx 'uploads/good: ok' said || fail "$(cat said)"
grep -qx '1 model: 1 ok' said || fail "$(cat said)"

# Each fault with its file, its rule and its remedy; the parts of a model folder are not "skipped".
make uploads/bad
rm uploads/bad/tokenizer.json
printf 'PK' >uploads/bad/pytorch_model.bin
sed -i 's/"vocab_size": 258/"vocab_size": 264/' uploads/bad/config.json
mkdir uploads/bad/1_Pooling
echo '{"pooling_mode_mean_tokens": true}' >uploads/bad/1_Pooling/config.json
expect 1 "$ingot" check uploads/bad >said
for text in '^  error: no tokenizer.*\[folder_file_missing\]' \
  '^  warning: uploads/bad/pytorch_model.bin: .*\[folder_pickle\]' \
  '^  error: uploads/bad/model.safetensors: "model.embed_tokens.weight": it has 258 rows' \
  'fetch the missing file into the folder' 'uploads/bad: error: 2 errors, 1 warning'; do
  grep -q "$text" said || fail "no $text: $(cat said)"
done
grep -q skipped said && fail "parts are skipped: $(cat said)"

# Among other models, in JSON, in SARIF, and with chosen rules.
"$ingot" sample uploads/model.gguf -q
expect 1 "$ingot" check uploads --json >report.json
python 'import json
models = {model["file"]: model for model in json.load(open("report.json"))}
assert {name: model["verdict"] for name, model in models.items()} == {
    "uploads/good": "ok", "uploads/bad": "error", "uploads/model.gguf": "ok"}, models
pickle, = [finding for finding in models["uploads/bad"]["findings"] if finding["rule"] == "folder_pickle"]
assert pickle["category"] == "security" and pickle["shard"] == "uploads/bad/pytorch_model.bin", pickle'
expect 1 "$ingot" check uploads --sarif >report.sarif
grep -q 'uploads/bad/pytorch_model.bin' report.sarif || fail "SARIF names no file"
expect 0 "$ingot" check uploads --ignore folder_file_missing,folder_pickle,folder_shape_wrong >/dev/null
expect 1 "$ingot" check uploads/bad --only folder_pickle >said
grep -q 'folder_shape_wrong' said && fail "rules that were not asked for: $(cat said)"

# config.json beside a GGUF file describes that file.
mkdir beside
cp uploads/model.gguf uploads/good/config.json beside/
expect 0 "$ingot" check beside >said
grep -qx '1 model: 1 ok; 1 other file' said || fail "$(cat said)"
