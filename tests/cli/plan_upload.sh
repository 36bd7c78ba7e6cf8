# SPDX-License-Identifier: MIT
# The chunks of a grown header are new, those behind it are known; a list of chunks stands for files.
"$ingot" sample old.gguf --type F16 -q
"$ingot" edit old.gguf --set general.name="a longer name than before, which moves all weights" -o new.gguf -q
"$ingot" plan-upload new.gguf --against old.gguf --json >plan.json
python '
import json, os
plan = json.load(open("plan.json"))
total, file = plan["total"], plan["files"][0]
assert total["size"] == file["size"] == os.path.getsize("new.gguf")
assert total["new"] + total["known"] + total["repeated"] == total["size"], total
assert 0 < total["new"] < 2 * 131072 < total["known"], total
assert [xorb["size"] for xorb in plan["xorbs"]] == [total["new"]], plan["xorbs"]
'
"$ingot" hash new.gguf -a xet --no-tensors | grep -q "$(python 'import json
print(json.load(open("plan.json"))["files"][0]["xet"])')" || fail "the hash of the file"

# Folders, without what is hidden; the second copy repeats the first.
mkdir -p folder/below folder/.git
cp old.gguf folder/below/b.gguf
cp old.gguf folder/a.gguf
cp new.gguf folder/.git/c.gguf
"$ingot" plan-upload folder -o folder.chunks --json | python 'import json, sys
plan = json.load(sys.stdin)
assert [file["file"] for file in plan["files"]] == ["folder/a.gguf", "folder/below/b.gguf"], plan
assert plan["files"][0]["new"] + plan["files"][0]["repeated"] == plan["files"][0]["size"]
assert plan["files"][1]["repeated"] == plan["files"][1]["size"]'
expect_error 2 '--force' "$ingot" plan-upload folder -o folder.chunks
"$ingot" plan-upload old.gguf --against folder.chunks | grep -q "^New are 0 of .* bytes (0 %), in 0 xorbs.$" || fail "list"
"$ingot" plan-upload new.gguf --against old.gguf folder --json | cmp - plan.json || fail "several"
echo damaged >>folder.chunks
expect_error 3 'a line has 64 digits' "$ingot" plan-upload old.gguf --against folder.chunks
expect_error 4 'nothere' "$ingot" plan-upload nothere
expect_error 2 'it is an input' "$ingot" plan-upload folder -o folder/a.gguf --force
"$ingot" hash old.gguf --as gguf-hash -a xet >old.manifest
"$ingot" hash --verify old.manifest | grep -qi ok || fail "a manifest of Xet hashes"
