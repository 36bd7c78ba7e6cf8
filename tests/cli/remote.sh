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
# Requests are counted here, so no header is kept.
export INGOT_CACHE=/dev/null

# requests PYTHON: an expression about the list of requests since the last time.
requests() {
  python '
import json, os, sys
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
"$ingot" sample www/parts.gguf --params 45M -q
"$ingot" tensors www/parts.gguf --stats >local
"$ingot" tensors "$url/parts.gguf" --stats >remote
expect_same local remote
# Neighbours are joined and cut to pieces of 8 MiB, and nothing comes twice.
size=$(stat -c %s www/parts.gguf)
requests "len(ranges) <= 2 + $size // (8 << 20) and sent <= $size"
"$ingot" tensors "$url/parts.gguf" 'blk.0.ffn_*' --stats >remote
requests 'len(ranges) == 2'
"$ingot" tensors "$url/parts.gguf" 'blk.[0-2].attn_norm*' --stats >remote
requests 'len(ranges) == 4 and sent == (1 << 20) + 3 * 2048'
"$ingot" convert www/parts.gguf local.gguf --type F32 -q
"$ingot" convert "$url/parts.gguf" remote.gguf --type F32 -q
expect_same local.gguf remote.gguf
requests "len(ranges) <= 2 + $size // (8 << 20) and sent <= $size"
# The header takes what is known of it, and no more than is allowed.
expect_error 3 "limit" "$ingot" show "$url/long.gguf" --max-header 1MiB
"$ingot" tensors "$url/parts.gguf" >/dev/null
: >log

echo "# what was fetched"
python '
import json, subprocess, sys
ingot, url = sys.argv[1:]
def run(*words):
    return subprocess.run([ingot, *words], capture_output=True, text=True, check=True)
for words in (["show"], ["check"], ["hash"], ["fit"], ["chat-template"], ["diff", url]):
    document = json.loads(run(words[0], url, *words[1:], "--json").stdout)
    document = document[0] if isinstance(document, list) else document
    sums = document.get("remote")
    assert sums and sums["requests"] == len(words), (words, document)
# Of a list, the last object has them.
assert json.loads(run("ls", "hf:org/repo", "--json").stdout)[-1]["remote"]["requests"] == 2
for words in (["ls"], ["metadata"], ["tensors"], ["tensors", "--stats"], ["anatomy"], ["show", url]):
    document = json.loads(run(words[0], url, *words[1:], "--json").stdout)
    assert document[-1]["remote"]["requests"] >= 1 and len(document) > (words[0] != "ls"), words
    assert words[0] == "show" or not any("remote" in one for one in document[:-1]), words
run_verbose = run("tensors", url, "-v").stderr
assert "1 requests" in run_verbose and "1 ranges of files" in run_verbose, run_verbose
' "$ingot" "$url/m.gguf"
: >log

echo "# the bytes of weights are not fetched for anatomy"
"$ingot" anatomy "$url/m.gguf" >remote
requests 'len(log) == 1'
grep -q '^  0[0-9a-f]*  *tensor  *token_embd.weight' remote || fail "a tensor is missing"
"$ingot" sample www/words.gguf --layers 2 --vocab 100000 -q
: >log
"$ingot" show "$url/words.gguf" >/dev/null
requests 'len(log) == 2'

echo "# a repository: the file that is meant, and all that are in it"
mkdir www/hub/org/mix
cp www/m.gguf www/hub/org/mix/m-Q4_K_M.gguf
printf 'GGUF\3\0\0\0\377\377\377\377\377\377\377\377\0\0\0\0\0\0\0\0' >www/hub/org/mix/m-Q8_0.gguf
"$ingot" show hf:org/mix --json >shown.json
python '
import json
shown = json.load(open("shown.json"))
assert shown["file"] == "hf:org/mix" and shown["file_name"] == "m-Q4_K_M.gguf" and shown["commit"], shown'
"$ingot" show hf:org/mix | grep -q '^file  *m-Q4_K_M.gguf' || fail "no name of the file"
expect 3 "$ingot" check hf:org/mix --json >checked.json
python '
import json
checked = json.load(open("checked.json"))
assert [model["verdict"] == "refused" for model in checked] == [False, True], checked
assert "m-Q4_K_M.gguf" in checked[0]["file"] and "m-Q8_0.gguf" in checked[1]["file"], checked'
expect 3 "$ingot" check hf:org/mix >checked
grep -q '^2 models: ' checked || fail "$(cat checked)"
: >log

echo "# more than 1 GiB"
python '
import struct
def text(value): return struct.pack("<Q", len(value)) + value
header = b"GGUF" + struct.pack("<IQQ", 3, 2, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
header += text(b"a.weight") + struct.pack("<IQIQ", 1, 300_000_000, 0, 0)
header += text(b"b.weight") + struct.pack("<IQIQ", 1, 32, 0, 1_200_000_000)
with open("www/giant.gguf", "wb") as file:
    file.write(header + bytes(-len(header) % 32))
    file.truncate(len(header) + -len(header) % 32 + 1_200_000_128)
'
for words in "tensors --stats" "check --data" hash "extract a.weight -o x.bin" "convert x.gguf --type F16" \
  "quantize x.gguf Q8_0" "split part --shards 2" "report -o x.html" "diff $url/m.gguf"; do
  read -r -a words <<<"$words"
  expect_error 2 "this reads 1.12 GiB from the server; --yes allows it" \
    "$ingot" "${words[0]}" "$url/giant.gguf" "${words[@]:1}"
done
requests 'sum(one["sent"] for one in log) < 20 << 20'
python '
import os, pty, sys
def ask(answer):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "hash", sys.argv[2], "--no-cache"])
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, answer)
    try:
        while piece := os.read(terminal, 1000):
            seen += piece
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen
status, seen = ask(b"n\n")
assert status == 2 and b"1.12 GiB" in seen, (status, seen)
' "$ingot" "$url/giant.gguf"
rm www/giant.gguf
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
