# SPDX-License-Identifier: MIT
# What edit says: old beside new, the types of standard keys, and why there is a padding key.
"$ingot" sample a.gguf -q
"$ingot" edit a.gguf --in-place --set tokenizer.ggml.add_bos_token=true -q
"$ingot" edit a.gguf -o b.gguf --set general.name=New --set llama.rope.scaling.factor=4 \
  --remove general.license --set tokenizer.ggml.add_bos_token=no --set tokenizer.ggml.add_eos_token=1 >said
grep -qx '  set key general.name: "Ingot sample llama 2.1M" -> "New"' said || fail "no old value: $(cat said)"
grep -qx '  add key llama.rope.scaling.factor = 4 (float32)' said || fail "no type: $(cat said)"
grep -qx '  remove key general.license, which was "mit"' said || fail "not what was removed"
grep -qx '  set key tokenizer.ggml.add_bos_token: true -> false' said || fail "no is not false"
grep -qx '  set key tokenizer.ggml.add_eos_token: false -> true' said || fail "1 is not true"
"$ingot" edit a.gguf --dry-run --set general.name=New --json | python '
import json, sys
change = json.load(sys.stdin)[0]["changes"][0]
assert change["old_value"] == "Ingot sample llama 2.1M" and change["value"] == "New", change'
hint='did you mean "llama.rope.scaling.factor" (float32)?'
expect_error 2 "$hint" "$ingot" edit a.gguf --dry-run --set rope.scaling.factor=4
expect_error 2 '"llama.context_length" (uint32)?' "$ingot" edit a.gguf --dry-run --set contxt_length=4
# A key that nothing is known of: the type is that which the value looks like.
while read -r value type; do
  expect_error 2 "--set 'my.key:$type=...'" "$ingot" edit a.gguf --dry-run --set "my.key=$value"
done <<'END'
4 uint32
-4 int32
4294967296 uint64
0.5 float32
yes bool
four string
[1,2] uint32[]
["a"] string[]
[1,"a"] string
END

# Room is a key, which is explained once and hidden.
cp a.gguf roomy.gguf
"$ingot" edit roomy.gguf --in-place --reserve 4096 --set general.name=R >said
grep -q '^  add key ingot.padding: .* that every reader skips .*; --compact -o OUT' said || fail "$(cat said)"
"$ingot" edit roomy.gguf --in-place --set general.name=RR | grep -q padding && fail "explained again"
"$ingot" metadata roomy.gguf | grep -q ingot.padding && fail "metadata shows it"
"$ingot" metadata roomy.gguf --all | grep -q '^ingot.padding ' || fail "metadata --all"
"$ingot" metadata roomy.gguf ingot.padding | grep -q '^ingot.padding ' || fail "a key that is named"
[[ $("$ingot" show roomy.gguf --json | python 'import json, sys; print(json.load(sys.stdin)["metadata_count"])') == 30 ]] || fail "show counts it"
"$ingot" edit a.gguf -o named.gguf --set general.name=RR -q
"$ingot" diff roomy.gguf named.gguf
expect 1 "$ingot" diff roomy.gguf named.gguf --all >differs
grep -q ingot.padding differs || fail "diff --all"
"$ingot" report roomy.gguf --json | grep -q ingot.padding && fail "report shows it"
"$ingot" report roomy.gguf --json --all | grep -q ingot.padding || fail "report --all"
# For publishing: the file as if it had never had room.
"$ingot" edit roomy.gguf -o compact.gguf --compact -q
expect_same compact.gguf named.gguf
expect_error 2 'give one of them' "$ingot" edit a.gguf -o c.gguf --compact --reserve 10
"$ingot" edit a.gguf -o c.gguf --set general.name=N | grep -qE '; ([0-9]+ bytes? left|no room is left) for later edits$' ||
  fail "not what is left"
