# SPDX-License-Identifier: MIT
# The same options give the same bytes, everywhere.
digest() { sha256sum "$1" | cut -c 1-64; }
show_digest() { "$ingot" sample out.gguf --force -q "$@"; echo "$(digest out.gguf)  $*"; }
show_digest
show_digest -j 1
show_digest --seed 2
show_digest --type F32
show_digest --type BF16
show_digest --type F16 --endian big
show_digest --arch qwen2
show_digest --experts 3 --layers 1
# Tensors that are not whole pieces, rows that are not whole groups.
show_digest --embedding 30 --heads 5 --feed-forward 7 --vocab 261 --layers 3
show_digest --vocab 9001 --embedding 64 --type F32

# A line about what was made on stderr; nothing on stdout; nothing at all with -q.
[[ -z $("$ingot" sample out.gguf --force 2>message) ]] || fail "output on stdout"
grep -q '^ingot: wrote out.gguf (4.03 MiB): llama, 2 layers' message || fail "$(cat message)"
[[ -z $("$ingot" sample out.gguf --force -q 2>&1) ]] || fail "not quiet"

# Half a file is never seen, and an existing one is safe.
echo "mine" >mine.gguf
expect_error 2 '--force' "$ingot" sample mine.gguf
[[ $(cat mine.gguf) == mine ]] || fail "an existing file was touched"

for count in 1M 3M 10M; do
  "$ingot" sample out.gguf --params "$count" --force -q
  "$ingot" show out.gguf --json >shown.json
  python '
import json, sys
wanted = int(sys.argv[1][:-1]) * 10**6
found = json.load(open("shown.json"))["model"]["parameters"]
assert abs(found - wanted) <= wanted / 10, (found, wanted)
' "$count"
done

# OUT as an option, as a folder, and as a pattern.
"$ingot" sample -o named.gguf -c 64 -q
mkdir made
"$ingot" sample made --type Q8_0 -q
"$ingot" sample 'made/{name}.{ftype}.gguf' -q
"$ingot" sample new/ -q
[[ -e named.gguf && -e made/llama-Q8_0.gguf && -e made/llama.f16.gguf && -e new/llama-F16.gguf ]] || fail "$(find .)"
expect_error 2 'OUT is missing' "$ingot" sample
expect_error 2 'give one of them' "$ingot" sample a.gguf -o b.gguf
