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
expect_error 4 'it is not a folder; with / at its end it is made' "$ingot" download hf:org/repo -o nowhere
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

mkdir www/hub/org/upper
cp www/m.gguf www/hub/org/upper/u-Q4_K_M.gguf
"$ingot" download hf:org/upper -o out >listing
grep -q ' verified$' listing || fail "a digest in upper case: $(cat listing)"
rm out/u-Q4_K_M.gguf
"$ingot" download "$url/hub/org/upper/resolve/main/u-Q4_K_M.gguf" -o out >listing
grep -q ' verified$' listing || fail "a tag in upper case: $(cat listing)"
rm out/u-Q4_K_M.gguf

echo "# what is there"
"$ingot" download hf:org/repo -o out >listing
grep -q ' was there (.*): SHA-256 .* verified$' listing || fail "$(cat listing)"
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
# Notes of what has come are written every second, too.
until grep -q '"begun":\[\[' out/large.gguf.ingot-part.json 2>/dev/null; do
  kill -0 "$pid" || fail "it ended without notes"
  sleep 0.05
done
status=0
kill -INT "$pid"
wait "$pid" || status=$?
((status == 130)) || fail "Ctrl-C: status $status"
[[ ! -e out/large.gguf && -e out/large.gguf.ingot-part ]] || fail "Ctrl-C: $(ls -A out)"
# What came is noted to the byte, and the rest alone is asked for.
python '
import json
notes = json.load(open("out/large.gguf.ingot-part.json"))
assert notes["begun"] and all(0 < kept < 1 << 24 for _, kept in notes["begun"]), notes'
"$ingot" download "$url/files/hub/org/set/large.gguf" -o out --json -q >json
python 'import json
assert json.load(open("json"))[0]["kept_bytes"] > 0'
expect_same "$large" out/large.gguf

echo "# parts of another file"
rm out/m.gguf
head -c 100000 www/m.gguf >out/m.gguf.ingot-part
echo '{"version":1,"range_bytes":16777216,"size":5,"finished":[0]}' >out/m.gguf.ingot-part.json
"$ingot" download "$url/m.gguf" -o out >/dev/null 2>message
grep -q "began anew: the file has another size now" message || fail "$(cat message)"
expect_same www/m.gguf out/m.gguf

echo "# sizes that cannot be"
mkdir lies
memory_kib=2000000
[[ ${INGOT_INSTRUMENTED:-0} == 0 ]] || memory_kib=unlimited  # sanitizers keep their own notes of all memory
( ulimit -v "$memory_kib" -t 5; expect_error 4 'the server states 256 PiB' "$ingot" download "$url/huge/m.gguf" -o lies )
expect_error 3 'sends two lines content-range' "$ingot" download "$url/twice/m.gguf" -o lies
expect_error 3 'sends two lines content-range' "$ingot" show "$url/twice/m.gguf"
[[ -z $(ls -A lies) ]] || fail "left behind: $(ls -A lies)"

echo "# links at the names of the part and its notes"
for kind in -s ''; do
  for name in ingot-part ingot-part.json; do
    echo precious >victim
    ln $kind "$PWD/victim" "lies/m.gguf.$name"
    expect_error 3 "link" "$ingot" download "$url/m.gguf" -o lies
    [[ $(cat victim) == precious ]] || fail "$name: the other file is $(head -c 20 victim)"
    [[ $(ls lies) == m.gguf.$name ]] || fail "left behind: $(ls -A lies)"
    rm "lies/m.gguf.$name"
  done
done
ln -s "$PWD/victim" lies/m.gguf.ingot-part.json.tmp
"$ingot" download "$url/m.gguf" -o lies -q >/dev/null
[[ $(cat victim) == precious ]] || fail "the other file is $(head -c 20 victim)"

echo "# an older file under the name"
exec 8<lies/m.gguf
flock 8
expect_error 4 "another program uses the file" "$ingot" download "$url/m.gguf" -o lies --force --no-wait
exec 8<&-
echo "of an edit that was cut off" >lies/m.gguf.ingot-journal
"$ingot" download "$url/m.gguf" -o lies --force -q >/dev/null
[[ ! -e lies/m.gguf.ingot-journal ]] || fail "the journal of the older file is still there"
expect_same www/m.gguf lies/m.gguf

echo "# refused"
(
  exec 8>out/locked.ingot-part
  flock 8
  cp www/m.gguf www/locked
  expect_error 4 "it is being downloaded" "$ingot" download "$url/locked" -o out
)
expect_error 2 "expected a reference" "$ingot" download www/m.gguf
expect_error 4 "status 404" "$ingot" download "$url/none.gguf" -o out
