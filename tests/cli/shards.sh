# SPDX-License-Identifier: MIT
# A model in shards is one model, whichever file is named; a missing shard is said.
python3 "$tests/make_shards.py" set
"$ingot" show set-00002-of-00003.gguf
echo "# json"
"$ingot" show set-00001-of-00003.gguf --json | sed -n '/"shards"/,$p'
"$ingot" tensors set-00003-of-00003.gguf
for file in set-*.gguf; do
  [[ $("$ingot" tensors "$file" --json | grep -c '"name"') == 3 ]] || fail "$file: not 3 tensors"
done

echo "# two of three"
rm set-00001-of-00003.gguf
"$ingot" show set-00003-of-00003.gguf 2>errors
grep -q '^ingot: set-00003-of-00003.gguf: note: .*00001' errors || fail "stderr: $(cat errors)"
"$ingot" show set-00003-of-00003.gguf --json -q >set.json
python '
import json
shards = json.load(open("set.json"))["shards"]
assert [shard["present"] for shard in shards] == [False, True, True]
assert [shard["index"] for shard in shards] == [0, 1, 2]
assert shards[0]["file"] == "set-00001-of-00003.gguf"
'
