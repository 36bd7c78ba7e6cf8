# SPDX-License-Identifier: MIT
# Vocabularies that a tokenizer can use, large ones too.
for arch in llama qwen2; do
  "$ingot" sample "$arch.gguf" --arch "$arch" --vocab 256000 --embedding 8 --heads 1 \
    --feed-forward 8 --layers 1 -q
  "$ingot" metadata "$arch.gguf" --json >"$arch.json"
done
python '
import json
def keys(arch):
    entries = json.load(open(arch + ".json"))
    return {entry["key"].removeprefix("tokenizer.ggml."): entry["value"] for entry in entries}

llama = keys("llama")
tokens, kinds, scores = llama["tokens"], llama["token_type"], llama["scores"]
assert len(tokens) == len(set(tokens)) == len(kinds) == len(scores) == 256000
assert tokens[:3] == ["<unk>", "<s>", "</s>"] and kinds[:3] == [2, 3, 3]
assert tokens[3:259] == ["<0x%02X>" % byte for byte in range(256)] and set(kinds[3:259]) == {6}
assert set(kinds[259:]) == {1}
assert all(a > b for a, b in zip(scores[259:], scores[260:]))
known = set(tokens)
# A tokenizer merges pairs: every piece must be two others side by side.
assert all(any(t[:i] in known and t[i:] in known for i in range(1, len(t)))
           for t in tokens[259:] if len(t) > 1)

qwen2 = keys("qwen2")
tokens, kinds, merges = qwen2["tokens"], qwen2["token_type"], qwen2["merges"]
assert len(tokens) == len(set(tokens)) == len(kinds) == 256000
assert all(len(token) == 1 for token in tokens[:256])
assert tokens[0] == "!" and tokens[220] == "\u0120"
assert kinds[-3:] == [3, 3, 3] and set(kinds[:-3]) == {1}
known = set(tokens[:256])
for merge, token in zip(merges, tokens[256:-3], strict=True):
    left, right = merge.split(" ")
    assert left in known and right in known and left + right == token
    known.add(token)
assert tokens[qwen2["bos_token_id"]] == "<|endoftext|>" and tokens[qwen2["eos_token_id"]] == "<|im_end|>"
'
