# SPDX-License-Identifier: MIT
# A LoRA adapter of PEFT becomes GGUF, is shown, and is merged into its base.
python3 "$tests/make_adapter.py" .

# The folder is known for an adapter; its base must be named.
expect_error 2 'org/Tiny' "$ingot" convert my-adapter adapter.gguf
expect_error 2 'base' "$ingot" convert base/Tiny x.gguf --base merged/Tiny
"$ingot" convert my-adapter adapter.gguf --base base/Tiny
"$ingot" convert my-adapter --plan --base base/Tiny | grep -q 'attn_q.weight.lora_b.*rope_pairs' ||
  fail "no transform in the plan"
cp base/Tiny/config.json my-adapter
"$ingot" convert my-adapter again.gguf --type f32
expect_same adapter.gguf again.gguf

"$ingot" lora info adapter.gguf >page
grep -q 'blk.\*.attn_q.weight *2 *4 *2 *64 x 64 *F32' page || fail "$(cat page)"
"$ingot" lora info adapter.gguf --json | python 'import json, sys
facts = json.load(sys.stdin)
assert facts["architecture"] == "llama" and facts["alpha"] == 8, facts
assert len(facts["tensors"]) == 6 and facts["tensors"][0]["rank"] == 4, facts
assert all(one["scale"] == 8 / one["rank"] for one in facts["tensors"]) and not facts["needs_invocation"], facts'
expect_error 3 'adapter' "$ingot" lora info base/Tiny/model.safetensors
expect_error 2 'info takes one' "$ingot" lora info adapter.gguf again.gguf

# The merge of the files is the file of the merged folder.
"$ingot" convert base/Tiny base.gguf --type f32
"$ingot" convert merged/Tiny wanted.gguf --type f32
"$ingot" lora merge base.gguf adapter.gguf merged.gguf --json | python 'import json, sys
written = json.load(sys.stdin)
assert written["file"] == "merged.gguf" and written["changed_tensors"] == 6, written'
expect_same merged.gguf wanted.gguf
"$ingot" lora merge base.gguf adapter.gguf again.gguf twice.gguf --scale 0.5 -j 3 -q
expect_same twice.gguf wanted.gguf
"$ingot" lora merge merged.gguf adapter.gguf -o back.gguf --scale -1 -q
expect_same back.gguf base.gguf

# A set of shards is one model, and one adapter, whichever of its files is named.
"$ingot" split base.gguf part --shards 3 -q
"$ingot" split adapter.gguf half --shards 2 -q
"$ingot" lora merge part-00002-of-00003.gguf half-00002-of-00002.gguf whole.gguf -q
expect_same whole.gguf wanted.gguf
expect_error 2 'another file' "$ingot" lora merge part-00001-of-00003.gguf adapter.gguf \
  part-00003-of-00003.gguf --force
expect_error 2 'another file' "$ingot" lora merge base.gguf half-00001-of-00002.gguf \
  half-00002-of-00002.gguf --force

# Quantized models keep their types; --type gives the changed matrices another.
"$ingot" quantize base.gguf quantized.gguf Q8_0 -q
"$ingot" lora merge quantized.gguf adapter.gguf small.gguf -q
"$ingot" tensors small.gguf | grep -q 'blk.0.attn_q.weight .*Q8_0' || fail "the type changed"
"$ingot" lora merge quantized.gguf adapter.gguf large.gguf --type f16 -q
"$ingot" tensors large.gguf | grep -q 'blk.0.attn_q.weight .*F16' || fail "the type is not F16"
"$ingot" tensors large.gguf | grep -q 'blk.0.attn_v.weight .*Q8_0' || fail "another type changed"

expect_error 2 'merged.gguf' "$ingot" lora merge base.gguf adapter.gguf merged.gguf
expect_error 2 'another file' "$ingot" lora merge base.gguf adapter.gguf base.gguf --force
expect_error 2 'name MODEL' "$ingot" lora merge base.gguf adapter.gguf
expect_error 2 '--scale' "$ingot" lora merge base.gguf adapter.gguf x.gguf --scale much
expect_error 2 '--scale' "$ingot" lora merge base.gguf adapter.gguf x.gguf --scale 1 --scale 2
expect_error 2 'same base' "$ingot" lora merge adapter.gguf adapter.gguf x.gguf
"$ingot" sample other.gguf --embedding 128 --layers 2 -q
expect_error 2 'same base' "$ingot" lora merge other.gguf adapter.gguf x.gguf
expect_error 3 'adapter' "$ingot" lora merge base.gguf merged.gguf x.gguf
[[ ! -e x.gguf ]] || fail "a refused merge wrote a file"
