# SPDX-License-Identifier: MIT
# One line a model; folders; several files; what fails is an object in JSON.
mkdir -p models/deep empty
"$ingot" sample models/a.gguf -q
"$ingot" sample models/deep/qwen.gguf --arch qwen2 --type Q8_0 -q
"$ingot" split models/a.gguf models/set --shards 2 -q
touch -d 2026-01-02T12:00:00Z models/*.gguf models/deep/*.gguf
"$ingot" ls models
"$ingot" ls models --markdown
"$ingot" ls models --json | sed 's/ "license".*//'
(cd models && "$ingot" ls .) >here
"$ingot" ls models >there
expect_same here there
# `show` lists a folder, and names the file of each of several pages.
"$ingot" show models >listed
expect_same listed there
"$ingot" show models/a.gguf models/deep/qwen.gguf | grep '==>'
# A part that another part of the name tells apart stays.
COLUMNS=60 "$ingot" ls models | awk 'length > 60 { exit 1 }' || fail "a line is too long"

expect_error 1 'there is no model here' "$ingot" ls empty
expect_error 2 'two formats' "$ingot" ls models --markdown --json
head -c 1000000 models/a.gguf >cut.gguf
expect 3 "$ingot" ls cut.gguf models --json >list.json 2>message
expect 3 "$ingot" show cut.gguf --json >one.json 2>>message
expect 3 "$ingot" show cut.gguf models/a.gguf --json >two.json 2>>message
expect 4 "$ingot" show missing.gguf --json >missing.json 2>>message
[[ $(grep -c '^ingot: ' message) == 4 ]] || fail "it says: $(cat message)"
python '
import json
rows = json.load(open("list.json"))
assert len(rows) == 4 and "error" in rows[0] and "error" not in rows[1], rows
assert {"file", "name", "architecture", "parameters", "type", "bits_per_weight", "file_size", "context_length",
        "store", "path", "sha256", "title", "size_bytes", "license", "chat_template", "modified_at"} == set(rows[1])
one = json.load(open("one.json"))
assert one["file"] == "cut.gguf"
assert set(one["error"]) == {"rule", "message", "offset", "subject"}
assert one["error"]["rule"] == "tensor_outside_file" and one["error"]["offset"] > 0, one
assert one["error"]["message"].startswith("cut off at "), one
two = json.load(open("two.json"))
assert two[0] == one and two[1]["file"] == "models/a.gguf"
assert json.load(open("missing.json"))["error"]["rule"] == "io_error"
'
# The word is spelled as words are, the key as the format spells it.
"$ingot" edit models/a.gguf -o sep.gguf --special-token separator '<s>' -q
"$ingot" show sep.gguf | grep -q 'separator 1' || fail "no separator"
"$ingot" metadata sep.gguf | grep -q '^tokenizer.ggml.seperator_token_id' || fail "no such key"

# Refused files of a folder are rows, and one line says how many; folders of Hugging Face are models, too.
mkdir many
cp models/a.gguf many/first.gguf
cp models/a.gguf many/second.gguf
for i in 1 2 3; do cp cut.gguf many/cut$i.gguf; done
"$ingot" sample hf.gguf --layers 1 -q
"$ingot" convert hf.gguf many/folder --names hf -q
expect 3 "$ingot" ls many --duplicates --digest --filter '*' --sort date >rows 2>message
[[ $(grep -c refused rows) == 3 && $(cat message) == *'many: 3 files are refused'* ]] || fail "refused: $(cat rows message)"
[[ $(wc -l <message) == 1 ]] || fail "a flood: $(cat message)"
grep -q '^folder  ' rows || fail "no folder: $(cat rows)"
grep -q '^1 duplicate ' rows || fail "no duplicate: $(cat rows)"
expect 3 "$ingot" ls many --duplicates --json >rows.json 2>/dev/null
python '
import json
rows = {row["file"]: row for row in json.load(open("rows.json"))}
assert rows["many/second.gguf"]["duplicate_of"] == "many/first.gguf", rows
assert rows["many/folder"]["architecture"] == "llama" and "error" in rows["many/cut1.gguf"], rows'
# What a user copies is never cut.
name=a-name-that-is-longer-than-half-of-a-terminal-and-has-to-be-whole-Q4_K_M.gguf
cp models/a.gguf "many/$name"
COLUMNS=80 expect 3 "$ingot" ls many >rows 2>/dev/null
grep -q "^$name" rows || fail "a name was cut: $(cat rows)"
[[ $("$ingot" ls many --filter "$name" 2>/dev/null | wc -l) == 2 ]] || fail "no filter"

# The order, and how many.
mkdir -p sorted
"$ingot" sample sorted/small.gguf --layers 1 -q
"$ingot" sample sorted/large.gguf --layers 4 -q
"$ingot" ls sorted --sort size --json >sorted.json
python '
import json
assert [model["file"] for model in json.load(open("sorted.json"))] == ["sorted/large.gguf", "sorted/small.gguf"]'
[[ $("$ingot" ls sorted --sort name --limit 1 | tail -n +2) == large.gguf* ]] || fail "no limit"
