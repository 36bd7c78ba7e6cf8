# SPDX-License-Identifier: MIT
# The names that scripts rely on.
"$ingot" sample llama.gguf -q
"$ingot" sample qwen.gguf --arch qwen2 -q
"$ingot" show llama.gguf --json

"$ingot" show llama.gguf qwen.gguf --json >both.json
python '
import json, os
one, two = json.load(open("both.json"))
for model in one, two:
    assert set(model) >= {"file", "format", "model", "tokenizer", "types", "tensor_count",
                          "metadata_count", "shards"}
    assert set(model["format"]) >= {"version", "endian", "alignment", "data_offset", "file_size"}
    assert set(model["model"]) >= {
        "name", "architecture", "parameters", "bits_per_weight", "file_type", "context_length",
        "block_count", "embedding_length", "feed_forward_length", "head_count", "head_count_kv",
        "vocab_size"}
    assert set(model["tokenizer"]) >= {"model", "pre", "chat_template"}
    assert model["format"]["file_size"] == os.path.getsize(model["file"])
    assert model["tokenizer"]["chat_template"] is True
    assert model["shards"] == []
    assert sum(share["tensors"] for share in model["types"]) == model["tensor_count"]
    assert sum(share["elements"] for share in model["types"]) == model["model"]["parameters"]
assert two["tokenizer"]["merge_count"] == 1024 - 256 - 3
'
# Of several files, one that cannot be read is an object with its error.
expect 4 "$ingot" show llama.gguf missing.gguf --json 2>/dev/null >partly.json
python 'import json; models = json.load(open("partly.json")); assert len(models) == 2 and models[1]["error"]'
