# SPDX-License-Identifier: MIT
# Headers of remote models that are kept: what a second look asks for, and what hostile entries do.
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi
((status == 4)) || fail "no server: status $status: $(cat message)"

mkdir -p www/hub/org/repo www/v2/library/tiny home
"$ingot" sample www/m.gguf --embedding 64 --feed-forward 128 --layers 3 --vocab 300 -q
cp www/m.gguf www/hub/org/repo/a-Q4_K_M.gguf
cp www/m.gguf www/v2/library/tiny/latest.gguf
python3 "$tests/make_long_header.py" www/long.gguf
cp www/long.gguf www/hub/org/repo/long-Q8_0.gguf

coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port other <&"${server[0]}"
url=http://127.0.0.1:$port
export HOME=$PWD/home HF_ENDPOINT=$url/hub INGOT_OLLAMA_REGISTRY=$url HF_TOKEN=secret-token
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE OLLAMA_MODELS MODEL_ENDPOINT INGOT_CACHE
cache=home/.cache/ingot

# requests PYTHON: an expression about the list of requests since the last time.
requests() {
  python '
import json, sys
log = [json.loads(line) for line in open("log")]
ranges = [one for one in log if one["range"] and one["status"] in (200, 206)]
sent = sum(one["sent"] for one in ranges)
assert eval(sys.argv[1]), (sys.argv[1], log)
' "$1"
  : >log
}
# same NAME FILE [OPTION...]: the listing of a remote model is that of a local file.
same() {
  "$ingot" tensors "$1" "${@:3}" >remote 2>message || fail "$1: $(cat message)"
  "$ingot" tensors "www/$2.gguf" >local
  expect_same local remote
}

echo "# an address without a commit: its tag is asked for"
same "$url/long.gguf" long
requests 'len(log) == 2 and sent > 1 << 20'
same "$url/long.gguf" long
requests 'len(log) == 1 and log[0]["range"] == "bytes=0-0" and sent <= 1'
same "$url/long.gguf" long --no-cache
requests 'len(log) == 2'
same "$url/long.gguf" long --offline
requests 'log == []'
cp www/m.gguf www/long.gguf
same "$url/long.gguf" long
requests 'len(log) == 2 and ranges[-1]["range"] == "bytes=0-1048575"'
same "$url/long.gguf" long
requests 'len(log) == 1'
cp www/hub/org/repo/long-Q8_0.gguf www/long.gguf

echo "# a commit and a digest are not asked for"
same hf:org/repo:Q8_0 long
requests 'len(ranges) == 2'
same hf:org/repo:Q8_0 long
requests 'len(log) == 2 and ranges == []'
same ollama:tiny m
same ollama:tiny m
requests 'len(log) == 3 and len(ranges) == 1'

echo "# data behind a header that is kept"
"$ingot" extract www/long.gguf last.weight -o local.bin -q
"$ingot" extract hf:org/repo:Q8_0 last.weight -o remote.bin -q
expect_same local.bin remote.bin
requests 'len(ranges) == 1 and sent == 4 << 19'
expect_error 4 "only its header is on this system" "$ingot" extract hf:org/repo:Q8_0 last.weight -o x.bin --offline

echo "# without a server"
same hf:org/repo:Q8_0 long --offline
same ollama:tiny m --offline
expect_error 4 "nothing is fetched" "$ingot" show hf:org/repo:Q2_K --offline
expect_error 4 "nothing is fetched" "$ingot" show "$url/none.gguf" --offline
expect_error 4 "nothing is fetched" "$ingot" show "$url/m.gguf?file=1" --offline
requests 'log == []'

echo "# only this user reads it, and it holds no secret"
[[ $(stat -c %a "$cache" "$cache/headers" "$cache/references" | sort -u) == 700 ]] || fail "$(ls -lR "$cache")"
"$ingot" show "http://me:secret@127.0.0.1:$port/m.gguf?signature=secret" >/dev/null
if grep -rq secret "$cache"; then fail "a secret is kept: $(grep -r secret "$cache")"; fi
: >log

echo "# ingot cache"
"$ingot" cache --json >cache.json
python '
import json
cache = json.load(open("cache.json"))
assert cache["path"].endswith("home/.cache/ingot") and len(cache["headers"]) == 4, cache
assert cache["bytes"] == sum(header["bytes"] for header in cache["headers"]) > 3 << 20, cache
assert {header["immutable"] for header in cache["headers"]} == {True, False}, cache
assert all(header["file_size"] and header["address"].startswith("http://127.0.0.1:") for header in cache["headers"])
'
"$ingot" cache >list
grep -q '^4 headers, .* in .*home/.cache/ingot$' list || fail "$(cat list)"
[[ $("$ingot" cache path) == "$PWD/$cache" ]] || fail "$("$ingot" cache path)"
[[ $("$ingot" cache size) == $(python 'import json; print(json.load(open("cache.json"))["bytes"])') ]] || fail size
expect_error 2 "must be list, size, path or clear" "$ingot" cache other
touch "$cache/headers/mine"
"$ingot" cache clear >message
grep -q ' freed in ' message || fail "$(cat message)"
[[ $(ls "$cache/headers") == mine && -z $(ls "$cache/references") ]] || fail "$(ls -R "$cache")"
expect_error 4 "nothing is fetched" "$ingot" show hf:org/repo:Q8_0 --offline

echo "# an entry that is damaged counts as absent"
same hf:org/repo:Q8_0 long
entry=$(dirname "$(find "$cache" -name meta.json)")
cp -r "$entry" good
: >log
for harm in \
  'open(e + "/data", "r+b").write(b"GGUX")' \
  'open(e + "/data", "ab").write(b"x")' \
  'os.truncate(e + "/data", 100)' \
  'os.remove(e + "/data")' \
  'os.remove(e + "/meta.json")' \
  '(os.remove(e + "/data"), os.mkfifo(e + "/data"))' \
  '(os.remove(e + "/meta.json"), os.mkfifo(e + "/meta.json"))' \
  '(os.remove(e + "/data"), os.symlink("/dev/zero", e + "/data"))' \
  'open(e + "/meta.json", "w").write("[" * 100000)' \
  'open(e + "/meta.json", "w").write("[1, 2]")' \
  'open(e + "/meta.json", "wb").write(b"\xff\x00")' \
  'os.truncate(e + "/meta.json", 1 << 40)' \
  'change(version=2)' 'change(version="1")' 'change(size=5)' 'change(size=1 << 62)' 'change(size=-1)' \
  'change(data_bytes=4)' 'change(data_xxh3_128="0")' 'change(etag="a\r\nX: y")' 'change(address="http://other/")'; do
  rm -rf "$entry"
  cp -r good "$entry"
  python '
import json, os, sys
e = sys.argv[1]
def change(**members):
    notes = json.load(open(e + "/meta.json"))
    json.dump({**notes, **members}, open(e + "/meta.json", "w"))
eval(sys.argv[2])
' "$entry" "$harm"
  same hf:org/repo:Q8_0 long
  requests 'len(ranges) == 2'
  same hf:org/repo:Q8_0 long
  requests 'ranges == []'
done
for text in '' '{}' '[]' '{"version":1,"name":"../x","files":[{"name":"../x","address":"http://a/x"}]}' \
  '{"version":1,"name":"x","files":[{"name":"x","address":"file:///etc/passwd"}]}'; do
  for file in "$cache"/references/*; do echo "$text" >"$file"; done
  expect_error 4 "nothing is fetched" "$ingot" show hf:org/repo:Q8_0 --offline
done

echo "# a folder that others could write to is not used"
chmod 777 "$cache/headers"
same hf:org/repo:Q8_0 long
requests 'len(ranges) == 2'
chmod 700 "$cache/headers"
chmod 777 "$cache"
same hf:org/repo:Q8_0 long
requests 'len(ranges) == 2'
chmod 700 "$cache"

echo "# processes beside one another"
"$ingot" cache clear -q
pids=()
for i in 1 2 3 4 5 6; do
  "$ingot" tensors "$url/long.gguf" >"remote$i" & pids+=($!)
  "$ingot" tensors "$url/m.gguf" >"other$i" & pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
"$ingot" tensors www/m.gguf >local_m
for i in 1 2 3 4 5 6; do
  expect_same local "remote$i"
  expect_same local_m "other$i"
done
same "$url/long.gguf" long --offline
same "$url/m.gguf" m --offline
[[ $(find "$cache/headers" -mindepth 1 -maxdepth 1 -type d | wc -l) == 2 ]] || fail "$(ls -A "$cache/headers")"
