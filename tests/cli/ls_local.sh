# SPDX-License-Identifier: MIT
# The catalogue of this system: stores as the programs lay them out, the same weights in two of them.
export HOME=$PWD/home XDG_CACHE_HOME='' HF_HOME='' HF_HUB_CACHE='' OLLAMA_MODELS='' LLAMA_CACHE='' INGOT_MODELS=''
shape=(--layers 1 --embedding 64 --feed-forward 64 --vocab 300 -q)
expect_error 1 'no program keeps a model' "$ingot" ls
"$ingot" sample a.gguf "${shape[@]}" --seed 1
"$ingot" sample b.gguf "${shape[@]}" --seed 2
"$ingot" edit b.gguf -o renamed.gguf --set general.license:string=apache-2.0 -q

# The hub's cache: a commit, a branch that names it, and blobs that links lead to.
hub=$HOME/.cache/huggingface/hub/models--acme--tiny
mkdir -p "$hub"/{blobs,refs,snapshots/c0ffee/sub,snapshots/0ld}
digest=$(sha256sum <a.gguf | cut -d ' ' -f 1)
cp a.gguf "$hub/blobs/$digest"
ln -s "../../blobs/$digest" "$hub/snapshots/c0ffee/tiny-F16.gguf"
ln -s "../../blobs/$digest" "$hub/snapshots/0ld/tiny-F16.gguf"  # the same file of an older commit
cp b.gguf "$hub/snapshots/0ld/other.gguf"
"$ingot" split a.gguf "$hub/snapshots/c0ffee/sub/set" --shards 2 -q
echo c0ffee >"$hub/refs/main"

# Ollama: manifests name blobs.
put_in_ollama() {
  local blob path=$HOME/.ollama/models/manifests/$1
  blob=$(sha256sum <"$2" | cut -d ' ' -f 1)
  mkdir -p "$(dirname "$path")" "$HOME/.ollama/models/blobs"
  cp "$2" "$HOME/.ollama/models/blobs/sha256-$blob"
  printf '{"schemaVersion": 2, "layers": [{"mediaType": "application/vnd.ollama.image.model",
    "digest": "sha256:%s", "size": %d}]}' "$blob" "$(wc -c <"$2")" >"$path"
}
put_in_ollama registry.ollama.ai/library/llama3/latest a.gguf
put_in_ollama registry.ollama.ai/acme/small/q8 b.gguf
echo '{}' >"$HOME/.ollama/models/manifests/registry.ollama.ai/library/llama3/broken"

mkdir -p "$HOME/.lmstudio/models/acme/tiny" "$HOME/.cache/llama.cpp" mine
cp renamed.gguf "$HOME/.lmstudio/models/acme/tiny/tiny.gguf"
ln b.gguf "$HOME/.cache/llama.cpp/acme_b.gguf"
head -c 1000 a.gguf >mine/cut.gguf
ln b.gguf mine/b.gguf
export INGOT_MODELS=$PWD/mine:$PWD/missing

"$ingot" ls --local --json --duplicates --digest >rows.json
"$ingot" ls --json >plain.json
python '
import json, os, subprocess, sys
home, ingot, digest = os.environ["HOME"], sys.argv[1], sys.argv[2]
rows = json.load(open("rows.json"))
names = [row["name"] for row in rows]
assert names == [
    "hf:acme/tiny/sub/set-00001-of-00002.gguf", "hf:acme/tiny/tiny-F16.gguf", "hf:acme/tiny@0ld/other.gguf",
    "ollama:acme/small:q8", "ollama:llama3", home + "/.lmstudio/models/acme/tiny/tiny.gguf",
    home + "/.cache/llama.cpp/acme_b.gguf", os.getcwd() + "/mine/b.gguf", os.getcwd() + "/mine/cut.gguf"], names
assert [row["store"] for row in rows] == ["huggingface"] * 3 + ["ollama"] * 2 + ["lmstudio", "llama.cpp"] + ["local"] * 2
by_name = dict(zip(names, rows))
assert by_name["ollama:llama3"]["duplicate_of"] == names[0]  # the shards are the same weights
assert by_name[names[1]]["duplicate_of"] == names[0]
assert {row["duplicate_of"] for row in rows[5:8]} == {names[2]}  # a changed key is no other model
assert by_name["ollama:llama3"]["sha256"] == digest == by_name[names[1]]["sha256"]
assert by_name[names[5]]["license"] == "apache-2.0" and rows[0]["license"] == "mit"
assert rows[-1]["error"] and rows[-1]["architecture"] is None and rows[0]["error"] is None
assert rows[1]["size_bytes"] == os.path.getsize("a.gguf") and rows[1]["architecture"] == "llama"
assert json.load(open("plain.json"))[-2]["sha256"] is None and rows[-2]["sha256"]
for row in rows[:-1]:  # names are references, and need no server
    shown = subprocess.run([ingot, "show", row["name"], "--json"], capture_output=True, text=True)
    assert shown.returncode == 0, shown
' "$ingot" "$digest"

# Another engine gets the path, not the reference.
[[ $("$ingot" fit ollama:llama3 --for llama.cpp) == *" --model $HOME/.ollama/models/blobs/sha256-$digest "* ]] ||
  fail "no path of a reference"
"$ingot" ls --duplicates >table
# Five copies of two models, of which one is a second name of a file that counts already.
[[ $(tail -n 2 table | head -n 1) == '9 models, '* ]] || fail "the sum: $(cat table)"
[[ $(tail -n 1 table) == '6 duplicates '* ]] || fail "the duplicates: $(cat table)"
[[ $("$ingot" ls --filter 'ollama:*' --sort size --limit 1 --json | python 'import json, sys
print(len(json.load(sys.stdin)))') == 1 ]] || fail "no limit"
expect_error 1 'fits the pattern' "$ingot" ls --filter 'nothing*'
expect_error 2 'without DIR' "$ingot" ls mine --local
COLUMNS=80 "$ingot" ls | grep -q '^hf:acme/tiny/sub/set-00001-of-00002.gguf' || fail 'a reference was cut'

# A commit that no branch names.
mkdir -p hub/models--acme--bare/snapshots/f00d
cp a.gguf hub/models--acme--bare/snapshots/f00d/x.gguf
[[ $(HF_HUB_CACHE=$PWD/hub "$ingot" ls --filter 'hf:*' --json | python 'import json, sys
print(*(row["name"] for row in json.load(sys.stdin)))') == hf:acme/bare@f00d/x.gguf ]] || fail "a commit without a branch"

# Two names in Ollama for one blob are two models, whose bytes count once.
put_in_ollama registry.ollama.ai/library/mine/latest a.gguf
"$ingot" ls --filter 'ollama:*' --duplicates --json >names.json
python 'import json
rows = {row["name"]: row for row in json.load(open("names.json"))}
assert set(rows) == {"ollama:acme/small:q8", "ollama:llama3", "ollama:mine"}, rows.keys()
assert rows["ollama:mine"]["duplicate_of"] == "ollama:llama3", rows["ollama:mine"]'
"$ingot" ls --filter 'ollama:*' --duplicates >names
grep -q 'without, 0 B less' names || fail "bytes of one file count twice: $(cat names)"

# The stores of other programs are read, never written; what needs a file takes their references.
for name in ollama:llama3 hf:acme/tiny/tiny-F16.gguf "$hub/snapshots/c0ffee/tiny-F16.gguf"; do
  expect_error 2 'in the store of another program' "$ingot" edit "$name" --in-place --set general.name=x
  "$ingot" edit "$name" -o "own${name//[:\/]/-}.gguf" --set general.name=mine >/dev/null 2>message
  [[ ! -s message ]] || fail "edit $name says: $(cat message)"
  expect 1 "$ingot" repair "$name" --dry-run -q
done
[[ $(sha256sum <"$hub/blobs/$digest" | cut -d ' ' -f 1) == "$digest" ]] || fail "the cache has changed"
