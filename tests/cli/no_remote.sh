# SPDX-License-Identifier: MIT
# A program that is built without remote reading knows references, and says so.
status=0
"$ingot" cache path >/dev/null 2>message || status=$?
if ! grep -q 'built without remote reading' message; then exit 77; fi
((status == 4)) || fail "cache: status $status: $(cat message)"
for words in "show hf:org/repo" "tensors https://example.org/m.gguf" "check ollama:llama3" "ls ms:org/repo" \
  "download hf:org/repo:Q4_K_M" "hash hf://org/repo/m.gguf" "--hf org/repo:Q8_0"; do
  read -r -a words <<<"$words"
  expect_error 4 "this program was built without remote reading" "$ingot" "${words[@]}"
done
# Options for remote files are unknown to it, and names of files are as ever.
expect_error 2 "--offline" "$ingot" show x.gguf --offline
expect_error 4 "No such file" "$ingot" show org/repo
