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

# What is not made yet: tensors that are taken over are known, others of one form are likely to be.
"$ingot" sample F16.gguf --layers 2 --embedding 256 --vocab 300 -q
"$ingot" quantize F16.gguf Q4_K_M.gguf Q4_K_M -q
"$ingot" quantize F16.gguf --to Q4_K_S --to Q4_K_M --dry-run --json >planned.json
"$ingot" plan-upload --plan planned.json --against F16.gguf Q4_K_M.gguf --json >new.json
python '
import json
(small, middle), plans = json.load(open("new.json")), json.load(open("planned.json"))
middle_types = {tensor["name"]: tensor["to"] for tensor in plans[1]["tensors"]}
def total(chosen): return sum(tensor["bytes"] for tensor in plans[0]["tensors"] if chosen(tensor))
assert small["size"] == plans[0]["file_size"] and small["repeated"] == 0, small
assert small["known"] == total(lambda one: one["from"] == one["to"]) > 0, small
assert small["likely"] == total(lambda one: one["from"] != one["to"] == middle_types[one["name"]]) > 0, small
assert small["new"] == small["size"] - small["known"] - small["likely"], small
assert middle["known"] == small["known"] and middle["repeated"] == small["likely"], middle
assert middle["new"] == plans[1]["file_size"] - plans[1]["bytes"] and middle["likely"] > 0, middle
'
# An edit keeps its tensors but for those that it removes; a manifest knows tensors by their digests.
"$ingot" hash F16.gguf --json >F16.manifest
"$ingot" edit F16.gguf --set general.name=other --remove-tensor output.weight --dry-run --json >edit.json
for known in F16.gguf F16.manifest; do
  "$ingot" plan-upload --plan - --against "$known" --json <edit.json >new.json
  python 'import json
file, edit = json.load(open("new.json"))[0], json.load(open("edit.json"))[0]
assert file["size"] == edit["file_bytes"] and file["new"] < 2 * edit["data_offset"], (file, edit)
assert file["known"] == file["size"] - file["new"] and file["likely"] == 0, file'
done
"$ingot" plan-upload --plan edit.json | grep -q "F16.gguf .*100 %" || fail "without --against"
expect_error 3 'this is no plan' "$ingot" plan-upload --plan F16.manifest
expect_error 2 'FILE or --plan is missing' "$ingot" plan-upload
expect_error 2 'for files that are not there' "$ingot" plan-upload F16.gguf --plan edit.json
"$ingot" sample F16.gguf --layers 1 --embedding 256 --vocab 300 --force -q
expect_error 3 'plan again' "$ingot" plan-upload --plan planned.json
