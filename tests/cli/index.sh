# SPDX-License-Identifier: MIT
# Layout indexes: made, used where asked for, kept true, and refused by check where they lie.
python3 "$tests/make_long_header.py" plain.gguf
"$ingot" tensors plain.gguf >plain
cp plain.gguf m.gguf

# elements FILE: those of the key
elements() { "$ingot" metadata "$1" ingot.index --json --full; }
# is_used FILE YES|NO: whether --index reads the file through its index
is_used() {
  "$ingot" show "$1" --index --json >shown.json 2>message || fail "$1: $(cat message)"
  python '
import json, sys
form = json.load(open("shown.json"))["format"]
assert (form.get("verified") is False) == (sys.argv[1] == "yes"), form
assert sys.argv[1] == "no" or form["unread_keys"] == 1, form
' "$2"
}

echo "# made"
"$ingot" edit m.gguf --in-place --index >message
"$ingot" check m.gguf --only index_wrong >/dev/null
is_used m.gguf yes
grep -q "read through its index, unverified: 1 long keys" message || fail "$(cat message)"
is_used plain.gguf no
"$ingot" tensors m.gguf --index --json >by_index.json 2>/dev/null
"$ingot" tensors m.gguf --json >walked.json
python '
import json
by_index, walked = json.load(open("by_index.json")), json.load(open("walked.json"))
assert [{**one, "verified": False} for one in walked] == by_index and len(walked) == 2, by_index
'
"$ingot" metadata m.gguf --index --json 2>/dev/null >keys.json
python '
import json
keys = json.load(open("keys.json"))
assert all(key["verified"] is False for key in keys), keys
assert "tokenizer.ggml.tokens" not in [key["key"] for key in keys] and len(keys) >= 2, keys
'
"$ingot" metadata m.gguf --index tokenizer.ggml.tokens --lines >by_index 2>message
"$ingot" metadata plain.gguf tokenizer.ggml.tokens --lines >walked
expect_same walked by_index
grep -q "reading them all" message || fail "$(cat message)"
"$ingot" metadata m.gguf --index --raw general.architecture >raw 2>message
[[ $(cat raw) == llama ]] && ! grep -q "reading them all" message || fail "$(cat message)"
"$ingot" ls m.gguf --index --json 2>/dev/null >by_index.json
"$ingot" ls m.gguf --json >walked.json
"$ingot" anatomy m.gguf --index --json 2>/dev/null >fields.json
python '
import json, os
by_index, walked = json.load(open("by_index.json")), json.load(open("walked.json"))
assert [{**one, "verified": False} for one in walked] == by_index, by_index
fields = json.load(open("fields.json"))
end = 0
for field in fields:
    assert field["offset"] == end and field["verified"] is False, field
    end += field["size"]
assert end == os.path.getsize("m.gguf")
unread = [field for field in fields if field["field"] == "unread"]
assert len(unread) == 1 and unread[0]["size"] > 3_000_000 and len(fields) < 100, unread
'
"$ingot" anatomy m.gguf --index --section metadata 2>/dev/null | grep -q 'unread  *keys that were not read' ||
  fail "the keys between are not explained"
"$ingot" extract m.gguf last.weight -o by_index.bin --index -q
"$ingot" extract plain.gguf last.weight -o plain.bin -q
expect_same plain.bin by_index.bin

echo "# by writers"
"$ingot" convert plain.gguf converted.gguf --index -q
is_used converted.gguf yes
"$ingot" sample sample.gguf --embedding 256 --feed-forward 256 --layers 1 --vocab 300 -q
"$ingot" quantize sample.gguf quantized.gguf Q8_0 --index -q
"$ingot" check quantized.gguf --only index_wrong >/dev/null
[[ $(elements quantized.gguf) == *ingot.index* ]] || fail "no index: $(elements quantized.gguf)"
expect_error 2 "--index" "$ingot" convert plain.gguf out.npz --index

echo "# of a vocabulary that was not read, its embeddings tell the size"
"$ingot" sample words.gguf --layers 2 --embedding 256 --vocab 20000 -q
"$ingot" edit words.gguf --in-place --index -q
"$ingot" fit words.gguf -d 1G --json >walked.json
"$ingot" fit words.gguf -d 1G --json --index 2>message >by_index.json
grep -q "unverified: 3 long keys" message || fail "$(cat message)"
python '
import json
by_index, walked = json.load(open("by_index.json")), json.load(open("walked.json"))
assert {**walked, "verified": False} == by_index, by_index
'
"$ingot" show words.gguf --index 2>/dev/null >page
! grep -q "not in the vocabulary" page || fail "a vocabulary that was not read is judged"

echo "# kept true"
"$ingot" edit m.gguf --in-place --set general.name=changed --rename-tensor first.weight=other.weight -q
"$ingot" check m.gguf --only index_wrong >/dev/null
is_used m.gguf yes
"$ingot" convert m.gguf again.gguf --align 64 -q
"$ingot" check again.gguf --only index_wrong >/dev/null
is_used again.gguf yes
"$ingot" split m.gguf part --max-tensors 1 -q
for shard in part-*.gguf; do "$ingot" check "$shard" --only index_wrong >/dev/null 2>&1 || fail "$shard"; done
"$ingot" edit m.gguf --in-place --remove ingot.index -q
is_used m.gguf no

echo "# stale and lying"
cp converted.gguf stale.gguf
python '
bytes = bytearray(open("stale.gguf", "rb").read())
at = bytes.rindex(b"first.weight")
bytes[at:at + 5] = b"other"
open("stale.gguf", "wb").write(bytes)
'
is_used stale.gguf no
grep -q "the layout index does not fit the file" message || fail "$(cat message)"
status=0
"$ingot" check stale.gguf --only index_wrong >found || status=$?
((status == 1)) || fail "status $status: $(cat found)"
grep -q "element 3 is .*, the file has " found || fail "$(cat found)"
expect_error 2 "kept true" "$ingot" edit converted.gguf --in-place --set ingot.index:uint64=1

echo "# on a server"
status=0
"$ingot" show http://127.0.0.1:1/x.gguf --retries 0 2>message || status=$?
if grep -q -e 'built without remote reading' -e 'cannot be loaded' message; then exit 0; fi
mkdir www
cp converted.gguf www/m.gguf
cp words.gguf www/
"$ingot" tensors www/m.gguf >local
coproc server { exec python3 "$tests/../support/model_server.py" www --log log; }
read -r port _ <&"${server[0]}"
export HOME=$PWD
unset INGOT_CACHE XDG_CACHE_HOME
"$ingot" tensors "http://127.0.0.1:$port/m.gguf" --index --no-cache >remote 2>/dev/null
expect_same local remote
python '
import json
log = [json.loads(line) for line in open("log")]
assert len(log) == 2, log
assert sum(one["sent"] for one in log) < (1 << 20) + (64 << 10) + 200, log
'

: >log
"$ingot" anatomy "http://127.0.0.1:$port/m.gguf" --index --no-cache >/dev/null 2>&1
"$ingot" fit "http://127.0.0.1:$port/words.gguf" --index --no-cache >/dev/null 2>&1
(($(wc -l <log) == 4)) || fail "requests: $(cat log)"

echo "# a header that is kept in part"
for words in --index "" --offline; do
  read -r -a words <<<"$words"
  "$ingot" tensors "http://127.0.0.1:$port/m.gguf" "${words[@]}" >remote 2>/dev/null
  expect_same local remote
done
