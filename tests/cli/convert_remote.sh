# SPDX-License-Identifier: MIT
# Repositories of a hub are converted by ranges: the bytes of the folders that they are.
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi

mkdir -p www/hub/org home
python3 "$tests/make_adapter.py" made
mv made/base/Tiny made/my-adapter www/hub/org
# A tensor that no import takes, so large that no look at a header fetches it.
python3 "$tests/add_unread_tensor.py" www/hub/org/Tiny/model.safetensors U8

coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port _ <&"${server[0]}"
export HOME=$PWD/home HF_ENDPOINT=http://127.0.0.1:$port/hub
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE MODEL_ENDPOINT INGOT_CACHE HF_TOKEN

"$ingot" convert hf:org/Tiny --dry-run >plan
grep -q 'blk.1.attn_q.weight.*rope_pairs' plan || fail "$(cat plan)"
python '
import json
sent = sum(json.loads(line)["sent"] for line in open("log"))
assert sent < 4 << 20, sent'

"$ingot" convert www/hub/org/Tiny local.gguf
"$ingot" convert hf:org/Tiny remote.gguf
expect_same remote.gguf local.gguf
"$ingot" convert hf:org/Tiny remote-{ftype}.gguf --type q8_0
"$ingot" convert www/hub/org/Tiny local-q8_0.gguf --type q8_0
expect_same remote-q8_0.gguf local-q8_0.gguf
"$ingot" convert www/hub/org/my-adapter local-adapter.gguf --base www/hub/org/Tiny
"$ingot" convert hf:org/my-adapter remote-adapter.gguf --base hf:org/Tiny
expect_same remote-adapter.gguf local-adapter.gguf
expect_error 2 'name its folder with --base' "$ingot" convert hf:org/my-adapter x.gguf

# A GGUF file that is named is converted as before, and so is one that is all there is.
mkdir www/hub/org/Other
cp local.gguf www/hub/org/Other/model-Q8_0.gguf
"$ingot" convert hf:org/Other half.gguf --type f16
"$ingot" show half.gguf --json | grep -q '"F16": ' || "$ingot" tensors half.gguf | grep -q F16 ||
  fail "not converted"
expect_error 4 'no such repository' "$ingot" convert hf:org/nothing x.gguf
[[ ! -e x.gguf ]] || fail "a refused conversion wrote a file"
