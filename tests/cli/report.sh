# SPDX-License-Identifier: MIT
# The page of a model, its data, and what is refused. How the page looks: tests/report.
"$ingot" sample fine.gguf --type F16 --layers 2 -q
"$ingot" sample coarse.gguf --type Q4_K --layers 2 -q
"$ingot" report coarse.gguf --reference fine.gguf -o page.html
"$ingot" report coarse.gguf --reference fine.gguf --json >data.json
"$ingot" extract fine.gguf blk.1.ffn_down.weight -o fine.f32 --as f32
"$ingot" extract coarse.gguf blk.1.ffn_down.weight -o coarse.f32 --as f32
"$ingot" tensors coarse.gguf --stats --json >stats.json
python '
import base64, hashlib, json, math, re, struct
page = open("page.html").read()
data = json.load(open("data.json"))
embedded = re.search(r"<script type=\"application/json\" id=\"data\">(.*?)</script>", page, re.S)[1]
assert "<" not in embedded and json.loads(embedded) == data
# A browser runs what the policy names, and that is what is there.
for name in "script", "style":
    text = re.search(rf"<{name}>(.*?)</{name}>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"{name}-src \x27sha256-{digest}\x27" in page, name
assert not re.search(r"(src|href)=|https?://|url\(|@import", page.replace("http://www.w3.org/2000/svg", "").split("<script type")[0])

tensors = {tensor["name"]: tensor for tensor in data["tensors"]}
stats = {tensor["name"]: tensor for tensor in json.load(open("stats.json"))}
assert list(tensors) == list(stats)
for name, tensor in tensors.items():
    assert {key: stats[name][key] for key in tensor["stats"]}.keys() == tensor["stats"].keys()
    for key, value in tensor["stats"].items():
        assert math.isclose(value, stats[name][key], rel_tol=1e-9, abs_tol=1e-12), (name, key)
    assert sum(tensor["histogram"]["counts"]) == tensor["elements"]
    assert tensor["histogram"]["low"] == tensor["stats"]["min"]

def floats(path):
    content = open(path, "rb").read()
    return struct.unpack(f"<{len(content) // 4}f", content)
fine, coarse = floats("fine.f32"), floats("coarse.f32")
errors = [a - b for a, b in zip(fine, coarse)]
error = tensors["blk.1.ffn_down.weight"]["error"]
squares = sum(e * e for e in errors)
assert error["count"] == len(errors) and error["reference_type"] == "F16"
assert math.isclose(error["rmse"], math.sqrt(squares / len(errors)), rel_tol=1e-9)
assert math.isclose(error["sqnr_db"], 10 * math.log10(sum(x * x for x in fine) / squares))
assert error["max"] == max(map(abs, errors))
assert tensors["output_norm.weight"]["error"]["sqnr_db"] == "Infinity"
assert data["reference"]["file"] == "fine.gguf"
'
# The same page for any number of threads and way of reading; to a pipe.
"$ingot" report coarse.gguf --reference fine.gguf -o - -j 1 --io read | cmp - page.html ||
  fail "threads or reading change the page"
"$ingot" report coarse.gguf --no-data --json >header.json
grep -q 'The weights were not read' header.json || fail "no notice"
grep -q '"stats": null' header.json || fail "statistics without weights"
# The chat template: its features, and what `check` finds in it alone.
cp coarse.gguf template.gguf
"$ingot" edit template.gguf --in-place --set 'tokenizer.chat_template={{ messages[0].content }}{{ tools }}{{ ""|uper }}' -q
"$ingot" report template.gguf --no-data --json >template.json
"$ingot" check template.gguf --json >checked.json || true
"$ingot" edit coarse.gguf -o plain.gguf --remove tokenizer.chat_template -q
"$ingot" report plain.gguf --no-data --json >plain.json
python '
import json
data = json.load(open("template.json"))["chat_template"]
[template] = data["templates"]
assert template["name"] == "" and "uper" in template["problem"], template
assert {"name": "system", "supported": False}.items() <= template["features"][0].items()
found = [finding["message"] for finding in json.load(open("checked.json"))["findings"]
         if finding["rule"].startswith("template_")]
assert found and found == [finding["message"] for finding in data["findings"]], (found, data)
[template] = json.load(open("header.json"))["chat_template"]["templates"]
assert template["problem"] is None
assert [row["name"] for row in template["features"] if row["supported"]] == ["system", "tool results", "text parts"]
assert json.load(open("plain.json"))["chat_template"] is None
'
# What `check` finds in the header, but for templates; and the statistics of the vocabulary.
"$ingot" edit template.gguf --in-place --set 'general.odd key:uint32=1' --remove tokenizer.ggml.eos_token_id -q
"$ingot" report template.gguf --no-data --json >odd.json
"$ingot" check template.gguf --json >checked.json || true
"$ingot" vocab template.gguf --stats --json >vocabulary.json
python '
import json
data = json.load(open("odd.json"))
found = [(finding["rule"], finding["message"]) for finding in json.load(open("checked.json"))["findings"]
         if not finding["rule"].startswith("template_")]
assert found and found == [(finding["rule"], finding["message"]) for finding in data["findings"]], (found, data["findings"])
assert data["vocabulary"]["statistics"] == json.load(open("vocabulary.json"))
assert {"name": "bos", "id": 1, "text": "<s>"} in data["vocabulary"]["special_tokens"]
'
"$ingot" convert coarse.gguf coarse.safetensors -q
"$ingot" report coarse.safetensors --no-data --json >other.json
grep -q '^  "findings": null' other.json || fail "rules of GGUF for another format"
# Without tensors there is nothing to count.
"$ingot" report coarse.gguf -o - | head -c 10 >/dev/null

expect_error 2 '--force' "$ingot" report coarse.gguf -o page.html
"$ingot" report coarse.gguf -o page.html --force
expect_error 2 '-o is missing' "$ingot" report coarse.gguf
expect_error 2 'leave out -o' "$ingot" report coarse.gguf --json -o data.json
cp coarse.gguf kept
ln -s coarse.gguf link.html
ln fine.gguf same.html
expect_error 2 'input' "$ingot" report coarse.gguf -o link.html --force
expect_error 2 'input' "$ingot" report coarse.gguf --reference fine.gguf -o same.html --force
expect_same coarse.gguf kept
expect_error 4 'folder/page.html' "$ingot" report coarse.gguf -o folder/page.html

expect_error 3 'page.html' "$ingot" report coarse.gguf --reference page.html -o no.gguf
[[ ! -e no.gguf ]] || fail "a page of nothing"
# A reference that is another model is no reference.
"$ingot" sample unrelated.gguf --embedding 96 --feed-forward 160 --layers 1 --vocab 300 -q
"$ingot" sample related.gguf -q
expect_error 1 'is it another model?' "$ingot" report related.gguf --reference unrelated.gguf -o unrelated.html -q
[[ -s unrelated.html ]] || fail "no page"
