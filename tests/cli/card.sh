# SPDX-License-Identifier: MIT
# A model card: what a hub reads, what people read, and nothing that a file of strangers could put there.
"$ingot" sample model-F16.gguf --layers 1 --embedding 256 --feed-forward 256 --context 64 -q
"$ingot" edit model-F16.gguf --in-place -q --set general.license=Apache-2.0 \
  --set general.source.huggingface.repository=acme/base \
  --set general.languages:string[]='["en","no"]' \
  --set general.tags:string[]='["tiny","text-generation"]' --set general.quantized_by=acme
for type in Q8_0 Q4_K_M; do "$ingot" quantize model-F16.gguf "model-$type.gguf" "$type" -q; done
for i in {1..20}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt
"$ingot" evaluate model-F16.gguf model-*.gguf --text text.txt --json >kl.json

"$ingot" card model-Q8_0.gguf model-Q4_K_M.gguf --results kl.json -o README.md
sed -n '/^---$/,/^---$/p' README.md >front
cat >expected <<'END'
---
license: apache-2.0
base_model:
- acme/base
base_model_relation: quantized
language:
- en
- "no"
pipeline_tag: text-generation
tags:
- tiny
- gguf
quantized_by: acme
---
END
expect_same expected front
grep -q '^| model-Q8_0.gguf | Q8_0 | [0-9.]* | .* KiB | 0.0[0-9]* +/- 0.0[0-9]* | [0-9.]* % |$' README.md ||
  fail "no row with a divergence"
grep -q '^| file | 4 GB |$' README.md || fail "no table of cards"
grep -q '^| model-Q4_K_M.gguf | 64 |$' README.md || fail "the longest context is not the model's own"
"$ingot" card model-Q8_0.gguf model-Q4_K_M.gguf --results kl.json >printed
expect_same README.md printed
"$ingot" card model-Q8_0.gguf model-Q4_K_M.gguf --results kl.json --json | python 'import json, sys
card = json.load(sys.stdin)
assert card["license"] == "apache-2.0" and card["base_models"] == ["acme/base"], card
assert [model["type"] for model in card["models"]] == ["Q8_0", "Q4_K_M"]
assert 0 < card["models"][0]["kl"] < card["models"][1]["kl"] and card["models"][0]["kl_error"] > 0
assert card["card_bytes"] == [4 << 30] and card["models"][0]["contexts"] == [64]'
expect_error 2 '--force' "$ingot" card model-Q8_0.gguf -o README.md
expect_error 2 'it is an input' "$ingot" card model-Q8_0.gguf -o model-Q8_0.gguf --force
expect_error 2 'ORG/NAME' "$ingot" card model-Q8_0.gguf --base-model 'a](b)'
echo '{"others": 1}' >wrong.json
expect_error 2 'ingot evaluate --json' "$ingot" card model-Q8_0.gguf --results wrong.json

# Shards are one row.
"$ingot" split model-Q8_0.gguf parts --shards 2 -q
"$ingot" card parts-00001-of-00002.gguf | grep -q '^| parts-00001-of-00002.gguf and 1 more | Q8_0 |' ||
  fail "a set is not one row"

# Metadata of strangers: each text stays one text.
cp model-Q8_0.gguf $'x|y<b>[z](w)*.gguf'
python '
import json, subprocess, sys
evil = "a\"b: c\n---\n# x\x1b[31m | <img src=x> [l](http://e.example) `c` \u202e\U000e0001 @m www.e.example"
tags = [evil, "- x", "null", "{}", "*a"]
subprocess.run([sys.argv[1], "edit", "x|y<b>[z](w)*.gguf", "--in-place", "-q",
                "--set", "general.name=" + evil, "--set", "general.license=" + evil,
                "--set", "general.license.link=" + evil, "--set", "general.quantized_by=" + evil,
                "--set", "general.tags:string[]=" + json.dumps(tags),
                "--remove", "general.source.huggingface.repository",
                "--set", "general.source.repo_url=https://huggingface.co/a/b](c)"], check=True)
card = subprocess.run([sys.argv[1], "card", "x|y<b>[z](w)*.gguf"], check=True,
                      capture_output=True).stdout.decode()
assert card.isprintable() or all(c == "\n" or c.isprintable() for c in card), card
assert card.split("\n").count("---") == 2, card
front, body = card.split("\n---\n")[:2]
assert "base_model" not in front
heading = [line for line in body.split("\n") if line.startswith("#")][0]
for mark in "<", "[", "`", "|", "@", "://", "www.":
    before = heading.find(mark)
    assert heading[before - 1] == "\\" or mark in ("://", "www.") and "\\" + mark[0] in heading or \
        mark == "www." and "www\\." in heading, (mark, heading)
row = [line for line in body.split("\n") if line.startswith("| x")][0]
assert row.startswith("| x\\|y\\<b\\>\\[z\\](w)\\*.gguf | Q8\\_0 |") or \
    row.startswith("| x\\|y\\<b\\>\\[z\\](w)\\*.gguf | Q8_0 |"), row
try:
    import yaml
except ImportError:
    sys.exit()
read = yaml.safe_load(front.removeprefix("---\n"))
assert read["license"] == evil.lower() and read["license_link"] == read["quantized_by"] == evil, read
assert read["tags"] == tags + ["gguf"], read
' "$ingot"
