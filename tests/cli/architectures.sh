# SPDX-License-Identifier: MIT
"$ingot" architectures >list.txt
grep -q '^llama ' list.txt || fail "llama is not in the list"
"$ingot" architectures --json >list.json
python '
import json
rows = {row["name"]: row for row in json.load(open("list.json"))}
assert len(rows) > 150
assert rows["llama"] == {"name": "llama", "check": True, "fit": True, "sample": True,
                         "import": True, "export": True, "evaluate": True, "projector": True}
assert not rows["dflash"]["check"] and not rows["dflash"]["sample"] and not rows["jamba"]["projector"]
assert set(rows["jamba"]) == set(rows["llama"])
'
"$ingot" architectures jamba >jamba.txt
grep -q '^blk.{i}.ssm_a  *\[ssm.state_size, inner\]  *if recurrent' jamba.txt || fail "$(cat jamba.txt)"
"$ingot" architectures jamba --json | python '
import json, sys
row = json.load(sys.stdin)
tensors = {tensor["name"]: tensor for tensor in row["tensors"]}
assert tensors["token_embd.weight"] == {"name": "token_embd.weight", "shape": "embd, vocab",
                                        "required": True, "condition": None}
assert tensors["blk.{i}.ssm_a"]["condition"] == "recurrent"
assert any(key["name"] == "ssm.conv_kernel" and key["required"] for key in row["keys"])
assert row["numbers"]["embd"] == "embedding_length"
'
"$ingot" architectures dflash | grep -q 'not described' || fail "dflash is described"
expect_error 2 'is not known' "$ingot" architectures nothing

# A sample of a row takes the options of the shape, and says the same twice.
"$ingot" sample --architecture jamba a.gguf -q
"$ingot" sample --arch jamba b.gguf -q
cmp a.gguf b.gguf
"$ingot" sample --arch jamba c.gguf --layers 6 --embedding 128 --vocab 300 --seed 5 --type BF16 -q
"$ingot" check --data a.gguf c.gguf --json >check.json
"$ingot" metadata c.gguf --json >c.json
python '
import json
text = open("c.json").read()
assert "\"jamba.embedding_length\"" in text
'
"$ingot" sample --arch qwen3moe quantized.gguf --type Q4_K -q
"$ingot" check --data quantized.gguf
expect_error 2 'is not known' "$ingot" sample --architecture nothing x.gguf
expect_error 2 'params' "$ingot" sample --architecture jamba --params 1M x.gguf
expect_error 2 'vocabulary' "$ingot" sample --architecture jamba --vocab 3 x.gguf
expect_error 2 'dflash' "$ingot" sample --architecture dflash x.gguf
