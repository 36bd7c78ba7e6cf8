# SPDX-License-Identifier: MIT
# A catalogue of a hub: an organisation, its repositories; what is not asked for again; what is gone.
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi
status=0
"$ingot" catalog query 'SELECT 1' --db c.db 2>message || status=$?
if grep -q 'built without SQLite' message; then exit 77; fi

mkdir -p www/hub/org/{one,two} home
small=(--layers 1 --embedding 64 --feed-forward 64 --vocab 300 -q)
"$ingot" sample www/hub/org/one/a.gguf "${small[@]}"
"$ingot" split www/hub/org/one/a.gguf www/hub/org/one/set --shards 2 -q
"$ingot" sample www/hub/org/two/b.gguf --arch qwen2 "${small[@]}"
head -c 300 www/hub/org/two/b.gguf >www/hub/org/two/cut.gguf
echo readme >www/hub/org/two/README.md
coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port other <&"${server[0]}"
export HOME=$PWD/home HF_ENDPOINT=http://127.0.0.1:$port/hub
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE MODEL_ENDPOINT INGOT_CACHE HF_TOKEN

adds() {
  local expected=$1 found
  shift
  found=$("$ingot" catalog "$@" --db c.db --json | python 'import json, sys
told = json.load(sys.stdin)
print(*(told[name] for name in ("read", "unchanged", "dropped", "refused", "failed")))')
  [[ $found == "$expected" ]] || fail "$*: $found"
}
adds '5 0 0 1 0' add hf:org
"$ingot" catalog query 'SELECT path, architecture, verdict, shard FROM files ORDER BY path' --db c.db --json | python '
import json, sys
rows = [tuple(row.values()) for row in json.load(sys.stdin)]
assert [row[0] for row in rows] == ["hf:org/one/a.gguf", "hf:org/one/set-00001-of-00002.gguf",
    "hf:org/one/set-00002-of-00002.gguf", "hf:org/two/b.gguf", "hf:org/two/cut.gguf"], rows
assert rows[2][3] == 1 and rows[3][1:3] == ("qwen2", "ok") and rows[4][2] == "refused", rows'

: >log
adds '0 5 0 0 0' update
python 'import json
assert not [line for line in open("log") if json.loads(line)["range"]], "a file was asked for"'
"$ingot" edit www/hub/org/two/b.gguf --in-place --set general.name=other -q
rm www/hub/org/one/a.gguf
adds '1 3 1 0 0' add hf:org/one hf:org/two --no-cache
adds '0 4 0 0 0' add hf:org
