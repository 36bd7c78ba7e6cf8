# SPDX-License-Identifier: MIT
# Models on servers: what is fetched, where secrets go, and what the exit status is.
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 77; fi
((status == 4)) || fail "no server: status $status: $(cat message)"

mkdir -p www/hub/org/repo www/hub/org/set www/v2/library/tiny home
"$ingot" sample www/m.gguf --embedding 64 --feed-forward 128 --layers 3 --vocab 300 -q
cp www/m.gguf www/hub/org/repo/a-Q4_K_M.gguf
cp www/m.gguf www/v2/library/tiny/latest.gguf
"$ingot" split www/m.gguf www/hub/org/set/s-Q8_0 --shards 3 -q
# A vocabulary that is longer than the first range, and weights behind it.
python3 "$tests/make_long_header.py" www/long.gguf

coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port other <&"${server[0]}"
url=http://127.0.0.1:$port
export HOME=$PWD/home HF_ENDPOINT=$url/hub INGOT_OLLAMA_REGISTRY=$url HF_TOKEN=secret-token
unset HF_HOME XDG_CACHE_HOME HF_HUB_CACHE OLLAMA_MODELS MODEL_ENDPOINT

# requests PYTHON: an expression about the list of requests since the last time.
requests() {
  python '
import json, sys
log = [json.loads(line) for line in open("log")]
ranges = [one for one in log if one["range"] and one["status"] in (200, 206)]
sent = sum(one["sent"] for one in ranges)
port, other = map(int, sys.argv[2:])
assert eval(sys.argv[1]), (sys.argv[1], log)
' "$1" "$port" "$other"
  : >log
}

echo "# the same as of a local file"
"$ingot" tensors www/m.gguf >local
"$ingot" tensors www/hub/org/set/s-Q8_0-00001-of-00003.gguf >local_set
for name in "$url/m.gguf" "$url/no-range/m.gguf" "$url/other/m.gguf" "$url/busy/m.gguf" "$url/broken/m.gguf" \
  hf:org/repo:q4_k_m hf:org/repo hf://org/repo/a-Q4_K_M.gguf ollama:tiny; do
  "$ingot" tensors "$name" >remote 2>message || fail "$name: $(cat message)"
  expect_same local remote
done
"$ingot" tensors hf:org/set:Q8_0 >remote
expect_same local_set remote
: >log

echo "# few requests"
"$ingot" tensors "$url/m.gguf" >remote
requests 'len(log) == 1 and log[0]["range"] == "bytes=0-1048575"'
"$ingot" tensors "$url/long.gguf" >remote
"$ingot" tensors www/long.gguf >local_long
expect_same local_long remote
requests 'len(log) == 2 and sent < 3_600_000'
"$ingot" tensors "$url/no-range/long.gguf" >remote
expect_same local_long remote
requests 'len(log) == 1'
"$ingot" tensors "$url/broken/long.gguf" >remote
expect_same local_long remote
: >log
"$ingot" tensors hf:org/repo >remote
requests 'len(log) == 4 and len(ranges) == 1'
"$ingot" tensors hf:org/set >remote
requests 'len(ranges) == 3'
"$ingot" show "$url/m.gguf" --json >show.json
python '
import json
remote = json.load(open("show.json"))["remote"]
assert remote["requests"] == 1 and remote["connections"] == 1 and remote["retries"] == 0, remote
'
: >log

echo "# data of tensors"
"$ingot" tensors www/m.gguf --stats >local
"$ingot" tensors "$url/m.gguf" --stats >remote
expect_same local remote
"$ingot" extract www/long.gguf last.weight -o local.bin -q
"$ingot" extract "$url/long.gguf" last.weight -o remote.bin -q
expect_same local.bin remote.bin
"$ingot" check "$url/m.gguf" >/dev/null
: >log

echo "# secrets"
"$ingot" tensors hf:org/repo -v >remote 2>message
requests 'all(one["credentials"] == (one["port"] == port) for one in log) and len(log) == 4'
if grep -q -e secret message; then fail "a secret is printed: $(cat message)"; fi
"$ingot" show "http://me:secret@127.0.0.1:$port/other/m.gguf?key=secret" --json -v >show.json 2>message
requests '[one["credentials"] for one in log] == [True, False]'
if grep -q secret message show.json; then fail "a secret is printed: $(cat message)"; fi
"$ingot" tensors "$url/m.gguf" --header 'Authorization: Basic x' >remote
requests 'log[0]["credentials"]'
expect_error 2 "without line ends" "$ingot" tensors "$url/m.gguf" --header $'A: b\nC: d'

echo "# the models of a repository"
cp www/m.gguf www/hub/org/set/m-F16.gguf
"$ingot" ls hf:org/set --json >list.json
requests 'len(log) == 2 and ranges == []'
"$ingot" ls hf:org/set --heads --json >heads.json
requests 'len(ranges) == 4'
python '
import json, os
files, heads = json.load(open("list.json")), json.load(open("heads.json"))
commit = "c0ffee" + "0" * 34
size = os.path.getsize("www/m.gguf")
assert [file["file"] for file in files] == [
    f"hf:org/set@{commit}/m-F16.gguf", f"hf:org/set@{commit}/s-Q8_0-00001-of-00003.gguf"], files
assert [file["type"] for file in files] == ["F16", "Q8_0"] and files[0]["parameters"] is None, files
assert files[0]["file_size"] == size and files[1]["file_size"] > size, files
assert [file["file"] for file in heads] == [file["file"] for file in files], heads
assert heads[0]["parameters"] == heads[1]["parameters"] > 0, heads
'
"$ingot" ls hf:org/set >list
grep -q '^s-Q8_0-00001-of-00003.gguf ' list || fail "$(cat list)"
: >log

echo "# failures"
expect_error 4 "status 404" "$ingot" show "$url/none.gguf"
expect_error 4 "no such repository" "$ingot" show hf:org/none
expect_error 4 "changed on the server" "$ingot" show "$url/changing/long.gguf"
expect_error 2 "hf:org/repo/a-Q4_K_M.gguf" "$ingot" show hf:org/repo:Q2_K
expect_error 2 "not a valid reference" "$ingot" show hf:org/../x
expect_error 4 "nothing is fetched" "$ingot" show hf:org/repo --offline
expect_error 4 "does not send parts" "$ingot" extract "$url/no-range/long.gguf" last.weight -o out.bin
: >log

echo "# what is on this system comes first"
mkdir -p hf:org home/.cache/huggingface/hub/models--org--cached/{refs,snapshots/c0ffee} \
  home/.ollama/models/{blobs,manifests/registry.ollama.ai/library/mine}
cp www/m.gguf hf:org/repo
"$ingot" tensors hf:org/repo >/dev/null
printf c0ffee >home/.cache/huggingface/hub/models--org--cached/refs/main
cp www/m.gguf home/.cache/huggingface/hub/models--org--cached/snapshots/c0ffee/x-Q8_0.gguf
"$ingot" tensors hf:org/cached:Q8_0 --offline >/dev/null
digest=$(sha256sum www/m.gguf | cut -d ' ' -f 1)
cp www/m.gguf "home/.ollama/models/blobs/sha256-$digest"
printf '{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:%s"}]}' "$digest" \
  >home/.ollama/models/manifests/registry.ollama.ai/library/mine/latest
"$ingot" tensors ollama:mine >/dev/null
requests 'log == []'
# A path that is mistyped is no name of a repository.
expect_error 4 "No such file" "$ingot" tensors home/nothing
expect_error 4 "No such file" "$ingot" tensors elsewhere/model.gguf
requests 'log == []'
