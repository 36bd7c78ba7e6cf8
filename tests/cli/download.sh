# SPDX-License-Identifier: MIT
# Downloads: whole and right under their names, or not there; kills lose little.
status=0
"$ingot" download http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi
((status == 4)) || fail "no server: status $status: $(cat message)"

mkdir -p www/hub/org/repo www/hub/org/set www/hub/org/wrong www/v2/library/tiny home out
"$ingot" sample www/m.gguf --embedding 64 --feed-forward 128 --layers 3 --vocab 300 -q
cp www/m.gguf www/hub/org/repo/a-Q4_K_M.gguf
cp www/m.gguf www/hub/org/wrong/w-Q8_0.gguf
cp www/m.gguf www/v2/library/tiny/latest.gguf
"$ingot" split www/m.gguf www/hub/org/set/s-Q8_0 --shards 3 -q
"$ingot" sample www/hub/org/set/large.gguf --params 60M -q
large=www/hub/org/set/large.gguf

coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port _ <&"${server[0]}"
url=http://127.0.0.1:$port
export HOME=$PWD/home HF_ENDPOINT=$url/hub INGOT_OLLAMA_REGISTRY=$url
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE OLLAMA_MODELS MODEL_ENDPOINT HF_TOKEN

echo "# whole and right"
: >log
expect_error 4 'it is not a folder; make it first' "$ingot" download hf:org/repo -o nowhere
[[ ! -s log ]] || fail "it asked the server before it looked for the folder"
"$ingot" download hf:org/repo ollama:tiny -o out >listing
[[ $(grep -c ' verified$' listing) == 2 ]] || fail "$(cat listing)"
expect_same www/m.gguf out/a-Q4_K_M.gguf
expect_same www/m.gguf out/tiny-latest.gguf
"$ingot" download "hf:org/set:Q8_0" -o out -q >/dev/null
for i in 1 2 3; do expect_same www/hub/org/set/s-Q8_0-0000$i-of-00003.gguf out/s-Q8_0-0000$i-of-00003.gguf; done
for kind in m broken/m no-range/m busy/m other/m; do
  "$ingot" download "$url/$kind.gguf" -o out --json -q >json
  expect_same www/m.gguf out/m.gguf
  python '
import hashlib, json
[file] = json.load(open("json"))
assert file["remote"]["bytes"] >= file["size"], file
assert not file["verified"] and file["sha256"] == hashlib.sha256(open("www/m.gguf", "rb").read()).hexdigest(), file
'
  rm out/m.gguf
done

echo "# what is there"
"$ingot" download hf:org/repo -o out >listing
grep -q ' verified, was there$' listing || fail "$(cat listing)"
echo other >out/m.gguf
expect_error 2 "the file exists" "$ingot" download "$url/m.gguf" -o out
"$ingot" download "$url/m.gguf" -o out --force -q >/dev/null
expect_same www/m.gguf out/m.gguf
if [[ -n $(find out -name '*ingot*') ]]; then fail "left behind: $(ls -A out)"; fi

echo "# a wrong digest"
expect_error 1 "their digests differ" "$ingot" download hf:org/wrong -o out
[[ ! -e out/w-Q8_0.gguf && -e out/w-Q8_0.gguf.ingot-bad ]] || fail "$(ls out)"
[[ ! -e out/w-Q8_0.gguf.ingot-part && ! -e out/w-Q8_0.gguf.ingot-part.json ]] || fail "$(ls out)"

echo "# kills"
for delay in 0.05 0.1 0.15 0.2 0.3; do
  "$ingot" download hf:org/set/large.gguf -o out -q >/dev/null 2>&1 &
  pid=$!
  sleep "$delay"
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  [[ ! -e out/large.gguf ]] || expect_same "$large" out/large.gguf
done
"$ingot" download hf:org/set/large.gguf -o out -q >/dev/null
expect_same "$large" out/large.gguf
if [[ -n $(find out -name 'large*ingot*') ]]; then fail "left behind: $(ls -A out)"; fi

echo "# Ctrl-C"
rm out/large.gguf
"$ingot" download "$url/slow/hub/org/set/large.gguf" -o out -q >/dev/null 2>&1 &
pid=$!
until [[ -s out/large.gguf.ingot-part.json ]]; do sleep 0.05; done
status=0
kill -INT "$pid"
wait "$pid" || status=$?
((status == 130)) || fail "Ctrl-C: status $status"
[[ ! -e out/large.gguf && -e out/large.gguf.ingot-part ]] || fail "Ctrl-C: $(ls -A out)"
rm out/large.gguf.ingot-part*

echo "# parts of another file"
rm out/m.gguf
head -c 100000 www/m.gguf >out/m.gguf.ingot-part
echo '{"version":1,"range_bytes":16777216,"size":5,"finished":[0]}' >out/m.gguf.ingot-part.json
"$ingot" download "$url/m.gguf" -o out >/dev/null 2>message
grep -q "began anew: the file has another size now" message || fail "$(cat message)"
expect_same www/m.gguf out/m.gguf

echo "# refused"
(
  exec 8>out/locked.ingot-part
  flock 8
  cp www/m.gguf www/locked
  expect_error 4 "it is being downloaded" "$ingot" download "$url/locked" -o out
)
expect_error 2 "expected a reference" "$ingot" download www/m.gguf
expect_error 4 "status 404" "$ingot" download "$url/none.gguf" -o out
