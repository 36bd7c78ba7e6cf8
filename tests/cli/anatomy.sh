# SPDX-License-Identifier: MIT
"$ingot" sample model.gguf --layers 1 --embedding 32 --feed-forward 64 --vocab 300 -q
"$ingot" anatomy model.gguf --limit 16
echo "# one section"
"$ingot" anatomy model.gguf --section header
echo "# json"
"$ingot" anatomy model.gguf --section header --json

# Every byte belongs to exactly one field.
"$ingot" anatomy model.gguf --json >fields.json
python '
import json
data = open("model.gguf", "rb").read()
end = 0
for field in json.load(open("fields.json")):
    assert set(field) >= {"offset", "size", "section", "field", "subject", "meaning", "hex"}
    assert field["offset"] == end, field
    assert field["hex"] == data[end:end + min(field["size"], 16)].hex()
    end += field["size"]
assert end == len(data), (end, len(data))
'
