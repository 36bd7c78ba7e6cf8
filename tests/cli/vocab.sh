# SPDX-License-Identifier: MIT
# The tokens of a model, and what differs between two vocabularies.
"$ingot" sample spm.gguf --vocab 300 -q
"$ingot" sample bpe.gguf --arch qwen2 --vocab 300 -q

"$ingot" vocab spm.gguf | sed -n '1,5p;260,264p' | cat -v
"$ingot" vocab spm.gguf --tsv | sed -n '1,5p;260,264p' | cat -v
"$ingot" vocab bpe.gguf --find ' ' | cat -v # by the text that it stands for
"$ingot" vocab bpe.gguf --grep 'im_'
"$ingot" vocab bpe.gguf --grep 'im_' --json
"$ingot" vocab spm.gguf --stats
"$ingot" vocab bpe.gguf --stats
"$ingot" vocab bpe.gguf --stats --json
expect 1 "$ingot" vocab bpe.gguf --find 'no such token'
expect_error 2 'give one of' "$ingot" vocab bpe.gguf --find a --stats
"$ingot" vocab bpe.gguf --json | python '
import json, sys
tokens = json.load(sys.stdin)
assert [token["id"] for token in tokens] == list(range(300)), tokens[:3]
'

# diff compares by token.
"$ingot" edit spm.gguf --set 'tokenizer.ggml.tokens=["<unk>","<s>","</s>","a","b"]' \
  --set 'tokenizer.ggml.scores=[0,0,0,-1,-2]' --set 'tokenizer.ggml.token_type=[2,3,3,1,1]' \
  -o a.gguf -q
"$ingot" edit a.gguf --set 'tokenizer.ggml.tokens=["<unk>","<s>","</s>","b","c"]' -o b.gguf -q
expect 1 "$ingot" diff a.gguf b.gguf --no-data | grep -v '^~ key'
expect 1 "$ingot" diff a.gguf b.gguf --no-data --json |
  python 'import json, sys; print(json.dumps(json.load(sys.stdin)["vocabulary"]))'

"$ingot" vocab bpe.gguf --limit 2 | cut -f 1 | paste -sd ' ' # the id comes first
[[ $("$ingot" vocab bpe.gguf --grep im_ --limit 1 --json | grep -c '"id"') == 1 ]] || fail "no limit"
