# SPDX-License-Identifier: MIT
# Model folders in repositories of a hub: quantized and checked by ranges, and found in the hub's cache.
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi

mkdir -p www/hub/org home
python3 "$tests/make_adapter.py" made
mv made/base/Tiny made/my-adapter www/hub/org
here=www/hub/org/Tiny
# Bytes that nothing but a reader of weights asks for.
cp "$here/model.safetensors" small
python3 "$tests/add_unread_tensor.py" "$here/model.safetensors" F16
# Weights that the import does not read are no reason to fetch them.
cp "$here/model.safetensors" "$here/consolidated.safetensors"

coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port _ <&"${server[0]}"
export HOME=$PWD/home HF_ENDPOINT=http://127.0.0.1:$port/hub
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE MODEL_ENDPOINT INGOT_CACHE HF_TOKEN
sent() { python 'import json; print(sum(json.loads(line)["sent"] for line in open("log")))'; }

# The headers and small files of a folder are checked, not its weights; with --data these too.
"$ingot" check hf:org/Tiny >said
grep -qx 'hf:org/Tiny: ok' said || fail "$(cat said)"
[[ $(sent) -lt $((8 << 20)) ]] || fail "the check fetched $(sent) bytes"
"$ingot" check hf:org/Tiny --data >said
grep -qx 'hf:org/Tiny: ok' said || fail "$(cat said)"
mv "$here/tokenizer.json" kept.json
expect 1 "$ingot" check hf:org/Tiny --json >report.json
python 'import json
report = json.load(open("report.json"))
assert report["verdict"] == "error" and any(
    finding["rule"] == "folder_file_missing" for finding in report["findings"]), report'
mv kept.json "$here/tokenizer.json"
expect_error 4 'no such repository' "$ingot" check hf:org/nothing
expect_error 2 'does not choose' "$ingot" check hf:org/my-adapter

# In one pass, to the bytes of the local folder; without OUT under the repository's name, here.
: >log
"$ingot" quantize "$here" local.gguf Q8_0 -q
"$ingot" quantize hf:org/Tiny remote.gguf Q8_0 -q
expect_same remote.gguf local.gguf
"$ingot" quantize hf:org/Tiny@main Q8_0 -q
expect_same Tiny-Q8_0.gguf local.gguf
"$ingot" quantize "$here" local-8.gguf --target-bpw 8 -q
"$ingot" quantize hf:org/Tiny remote-8.gguf --target-bpw 8 -q
expect_same remote-8.gguf local-8.gguf
grep -q consolidated log && fail "weights were fetched that are not read"
"$ingot" quantize org/Tiny named.gguf Q8_0 2>said >/dev/null
grep -q 'taken for hf:org/Tiny' said || fail "no remark: $(cat said)"
expect_error 2 'model folders' "$ingot" quantize hf:org/my-adapter x.gguf Q8_0 --pre llama-bpe

# Without a network: what the hub's programs keep, or an error that says so.
expect_error 4 'in no cache' "$ingot" convert hf:org/Tiny off.gguf --offline
expect_error 4 'in no cache' "$ingot" check hf:org/Tiny --offline
expect_error 4 'in no cache' "$ingot" quantize hf:org/Tiny off.gguf Q8_0 --offline
kept=home/.cache/huggingface/hub/models--org--Tiny
commit=c0ffee0000000000000000000000000000000000
mkdir -p "$kept/refs" "$kept/snapshots/$commit"
printf %s "$commit" >"$kept/refs/main"
cp "$here"/*.json "$kept/snapshots/$commit"
expect_error 4 'in no cache' "$ingot" convert hf:org/Tiny off.gguf --offline
expect 1 "$ingot" check hf:org/Tiny --offline >said
grep -q 'folder_file_missing' said || fail "$(cat said)"
cp "$here/model.safetensors" "$kept/snapshots/$commit"
"$ingot" convert "$here" here.gguf
"$ingot" convert hf:org/Tiny off.gguf --offline
expect_same off.gguf here.gguf
"$ingot" quantize hf:org/Tiny off-8.gguf Q8_0 --offline -q
expect_same off-8.gguf local.gguf

# With one, files of the same commit come from there; a file of another size does not.
: >log
"$ingot" convert hf:org/Tiny on.gguf
expect_same on.gguf here.gguf
[[ $(sent) -lt 4096 ]] || fail "files that are here were fetched: $(sent) bytes"
cp small "$kept/snapshots/$commit/model.safetensors"
"$ingot" convert hf:org/Tiny again.gguf
expect_same again.gguf here.gguf
[[ $(sent) -gt $((100 << 10)) ]] || fail "a file of another size was used"
