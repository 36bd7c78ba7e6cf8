# SPDX-License-Identifier: MIT
# What a conversion loses is said, and what it writes is labelled by what is in it.
python '
import json, os, struct
def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, bytes_of) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
os.mkdir("hf")
bf16 = lambda count: b"\x80\x3f" * count
write("hf/model.safetensors", {
    "model.embed_tokens.weight": ("BF16", [32, 64], bf16(32 * 64)),
    "model.layers.0.input_layernorm.weight": ("BF16", [64], bf16(64)),
    "model.layers.0.mlp.up_proj.weight": ("BF16", [32, 64], bf16(32 * 64)),
    "model.layers.0.self_attn.q_proj.bias": ("BF16", [64], bf16(64))})
'

# A folder of Hugging Face: a warning that --quiet does not silence, in JSON too, and status 0.
"$ingot" convert hf plain.gguf -q 2>said
grep -q '^ingot: plain.gguf: warning: .*no engine can load' said || fail "no warning: $(cat said)"
grep -q 'no general.architecture, no tokenizer, .*model.embed_tokens.weight' said || fail "why"
grep -q 'config.json is imported as a whole: .*without --names' said || fail "no way out"
"$ingot" convert hf plain.gguf --force --json 2>/dev/null >found.json
python 'import json
found = json.load(open("found.json"))
assert found["file"] == "hf" and found["format"] == "gguf" and found["outputs"] == ["plain.gguf"]
assert [warning["code"] for warning in found["warnings"]] == ["not_loadable"], found
assert "without --names" in found["warnings"][0]["message"] and found["notes"] == []'

# Such a file is not quantized, nor is the folder, unless it gets an architecture.
expect_error 3 '--override-kv general.architecture=str:NAME' \
  "$ingot" quantize plain.gguf out.gguf Q8_0
expect_error 3 'with its config.json' "$ingot" quantize hf out.gguf Q8_0
expect_error 3 'no general.architecture' "$ingot" quantize hf --plan Q8_0
[[ ! -e out.gguf ]] || fail "out.gguf is there"
"$ingot" quantize plain.gguf out.gguf Q8_0 --override-kv general.architecture=str:llama -q 2>/dev/null

# What says all of it converts without a word, whatever the format.
"$ingot" sample model.gguf --type Q8_0 -q
"$ingot" convert model.gguf model.safetensors 2>said
"$ingot" convert model.safetensors again.gguf --json 2>>said >found.json
[[ ! -s said ]] || fail "said: $(cat said)"
grep -q '"warnings": \[\]' found.json || fail "warnings"

# The label follows the weights: through another format, and with --type.
label() { "$ingot" show "$1" --json | python 'import json, sys; print(json.load(sys.stdin)["model"]["file_type"])'; }
for file in model.gguf:Q8_0 model.safetensors:F32 again.gguf:F32; do
  [[ $(label "${file%:*}") == "${file#*:}" ]] || fail "$file: $(label "${file%:*}")"
done
"$ingot" convert model.gguf half.gguf --type BF16
[[ $(label half.gguf) == BF16 ]] || fail "half.gguf: $(label half.gguf)"
"$ingot" convert model.gguf wide.gguf --type F64
[[ $(label wide.gguf) == None ]] || fail "wide.gguf: $(label wide.gguf)"  # there is no such label
"$ingot" convert model.gguf same.gguf --endian big
[[ $(label same.gguf) == Q8_0 ]] || fail "same.gguf: $(label same.gguf)"

# Norms and biases become F32, as engines want them, unless all are asked for.
types() {
  "$ingot" tensors "$1" --json | python 'import json, sys
print(*sorted({("vector " if len(t["shape"]) < 2 else "matrix ") + t["type"] for t in json.load(sys.stdin)}), sep=", ")'
}
for type in F16 BF16; do
  "$ingot" convert hf out.gguf --type $type --force 2>/dev/null
  [[ $(types out.gguf) == "matrix $type, vector F32" ]] || fail "$type: $(types out.gguf)"
  "$ingot" convert hf out.gguf --type $type --all-tensors --force 2>/dev/null
  [[ $(types out.gguf) == "matrix $type, vector $type" ]] || fail "all $type: $(types out.gguf)"
done
expect_error 2 'give one' "$ingot" convert model.gguf o.gguf --all-tensors
expect_error 2 'no meaning for npz' "$ingot" convert model.gguf o.npz --all-tensors --type F16
