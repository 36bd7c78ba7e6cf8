# SPDX-License-Identifier: MIT
# Work in tasks: cut, run in any order, twice, or killed, and joined to what one run gives.
"$ingot" sample m-F16.gguf --layers 1 --embedding 32 --feed-forward 32 --context 64 -q
"$ingot" quantize m-F16.gguf q4.gguf Q4_0 -q
"$ingot" quantize m-F16.gguf q8.gguf Q8_0 -q
for i in {1..60}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt

# plan NAME JOBS COMMAND...: prints NAME.json, whose tasks leave their parts in NAME.
plan() {
  local name=$1 jobs=$2
  shift 2
  "$ingot" plan-work --jobs "$jobs" --parts "$name" -- "$@" >"$name.json"
}
# run_backwards NAME: runs all tasks, the last one first, and the first one twice.
run_backwards() {
  local task
  for task in $("$ingot" run-work "$1.json" --missing | tac) 1; do
    "$ingot" run-work "$1.json" --task "$task" -q >printed
    [[ ! -s printed ]] || fail "task $task of $1 printed"
  done
  [[ -z $("$ingot" run-work "$1.json" --missing) ]] || fail "tasks of $1 are missing"
}
count_tasks() { python 'import json, sys; print(len(json.load(open(sys.argv[1]))["tasks"]))' "$1.json"; }

# Digests: what is printed, in each form, is that of one run; a missing task is named.
mkdir models
for name in a b c d e; do cp q4.gguf "models/$name.gguf"; done
"$ingot" edit models/c.gguf --in-place --set general.name=other -q
for form in text json sha256sum; do
  "$ingot" hash models/*.gguf --as "$form" >one
  plan "hash-$form" 3 hash models/*.gguf --as "$form"
  [[ $(count_tasks "hash-$form") == 3 ]] || fail "not three tasks"
  expect_error 1 "3 of 3 tasks are not done: 1, 2, 3" "$ingot" run-work "hash-$form.json" --join
  run_backwards "hash-$form"
  "$ingot" run-work "hash-$form.json" --join >joined
  expect_same one joined
done
plan hash-all 99 hash models/*.gguf --as json
[[ $(count_tasks hash-all) == 5 ]] || fail "not a task for each file"
"$ingot" hash models/*.gguf --json >one
"$ingot" run-work hash-all.json >joined
expect_same one joined

# Files that are refused are elements of the list, too.
head -c 500 q4.gguf >models/broken.gguf
cp models/broken.gguf models/broken2.gguf
for files in 'a broken b' 'broken a' 'a broken broken2' 'broken broken2'; do
  read -ra names <<<"$files"
  paths=("${names[@]/#/models/}")
  expect 3 "$ingot" hash "${paths[@]/%/.gguf}" --as json >one 2>/dev/null
  plan "refused-${files// /-}" 9 hash "${paths[@]/%/.gguf}" --as json
  expect 3 "$ingot" run-work "refused-${files// /-}.json" >joined 2>/dev/null
  expect_same one joined
done
# A command that makes no sense is not done.
plan usage 2 hash q4.gguf q8.gguf --as frob
expect_error 2 'frob' "$ingot" run-work usage.json --task 1
[[ $("$ingot" run-work usage.json --missing) == $'1\n2' ]] || fail "wrong usage counts as done"
expect_error 2 'run-work: it prints' "$ingot" run-work hash-all.json --json
# Names that look like options.
cp q4.gguf ./-x.gguf
"$ingot" hash -- -x.gguf q8.gguf >one
plan dash 2 hash -- -x.gguf q8.gguf
"$ingot" run-work dash.json >joined
expect_same one joined

# Findings: the status of the join is that of one run, a task that found something is done.
expect 3 "$ingot" check models --json >one
plan check 4 check models
run_backwards check
expect 3 "$ingot" run-work check.json --join >joined
expect_same one joined

# Several types, from one reading for each task; a task goes on with what is there.
types=(--to Q8_0 --to Q4_0 --to Q5_1 --to F16)
"$ingot" quantize m-F16.gguf "${types[@]}" --to-dir one_dir -q
plan quantize 3 quantize m-F16.gguf "${types[@]}" --to-dir out
[[ $(count_tasks quantize) == 3 ]] || fail "not three tasks"
run_backwards quantize
"$ingot" run-work quantize.json --join
diff -r one_dir out || fail "other files than one run makes"
rm out/m-Q8_0.gguf
[[ $("$ingot" run-work quantize.json --missing) == 1 ]] || fail "a result that is gone is not missed"
"$ingot" run-work quantize.json -q
diff -r one_dir out || fail "other files after one was lost"
# A note that was lost, as if the task had been killed before it.
rm quantize/2.done
"$ingot" run-work quantize.json --task 2 -q
diff -r one_dir out || fail "other files after a note was lost"

# One type, shard by shard.
plan shards 3 quantize m-F16.gguf merged.gguf Q4_0
run_backwards shards
"$ingot" run-work shards.json --join -q
expect_same q4.gguf merged.gguf
"$ingot" run-work shards.json --join -q  # again

# No more tasks than tensors.
plan many 999 quantize m-F16.gguf many.gguf Q4_0
"$ingot" run-work many.json -q
expect_same q4.gguf many.gguf

# Conversions.
mkdir in
cp q4.gguf in/x.gguf
cp q8.gguf in/y.gguf
plan convert 9 convert in/x.gguf in/y.gguf 'converted/{name}.gguf' --endian big
run_backwards convert
"$ingot" convert in/y.gguf one_y.gguf --endian big -q
expect_same one_y.gguf converted/y.gguf

# Models at work: to the bit what one run gives.
for form in --json --by-chunk; do
  "$ingot" evaluate m-F16.gguf q8.gguf q4.gguf --text text.txt --chunks 20 "$form" >one
  plan "evaluate$form" 3 evaluate m-F16.gguf q8.gguf q4.gguf --text text.txt --chunks 20 "$form"
  [[ $(count_tasks "evaluate$form") == 3 ]] || fail "not three parts of the text"
  run_backwards "evaluate$form"
  "$ingot" run-work "evaluate$form.json" --join >joined
  expect_same one joined
done
"$ingot" imatrix collect m-F16.gguf --text text.txt --chunks 28 --part 1/1 -o one.gguf
plan imatrix 4 imatrix collect m-F16.gguf --text text.txt --chunks 28 -o joined.gguf
run_backwards imatrix
"$ingot" run-work imatrix.json --join
expect_same one.gguf joined.gguf
"$ingot" imatrix merge imatrix/1.gguf imatrix/3.gguf -o odd.gguf
"$ingot" imatrix merge imatrix/4.gguf imatrix/2.gguf odd.gguf -o other_order.gguf
expect_same one.gguf other_order.gguf
# Rounding as llama.cpp rounds gives nearly the same.
"$ingot" imatrix collect m-F16.gguf --text text.txt --chunks 28 -o rounded.gguf
for name in one rounded; do "$ingot" imatrix show "$name.gguf" --json >"$name.json"; done
python '
import json
one, rounded = (json.load(open(name + ".json"))["entries"] for name in ("one", "rounded"))
for a, b in zip(one, rounded):
    assert a["name"] == b["name"] and a["tokens"] == b["tokens"] and abs(a["mean"] / b["mean"] - 1) < 1e-4
'
"$ingot" sensitivity m-F16.gguf --text text.txt --chunks 2 --imatrix one.gguf -o one.sensitivity -q
plan sensitivity 3 sensitivity m-F16.gguf --text text.txt --chunks 2 --imatrix one.gguf -o joined.sensitivity
run_backwards sensitivity
"$ingot" run-work sensitivity.json --join -q
expect_same one.sensitivity joined.sensitivity

expect_error 3 'it is part 1/3' "$ingot" quantize m-F16.gguf part.gguf --target-bpw 5 --sensitivity sensitivity/1.json

# Parts that do not belong together.
"$ingot" evaluate m-F16.gguf q8.gguf --text text.txt --chunks 9 --part 1/2 >first.json
"$ingot" evaluate m-F16.gguf q8.gguf --text text.txt --chunks 9 --part 2/2 >second.json
join() { "$ingot" evaluate m-F16.gguf "$1" --text text.txt --chunks 9 --join "$2" --join "$3"; }
join q8.gguf second.json first.json >/dev/null
expect_error 2 'part 1 is there twice' join q8.gguf first.json first.json
expect_error 2 'of other models' join q4.gguf first.json second.json
expect_error 3 'no part of an evaluation' join q8.gguf first.json one.sensitivity
expect_error 2 'one of 2 parts, but 1 files' "$ingot" evaluate m-F16.gguf q8.gguf --text text.txt --join first.json
expect_error 2 'it is no part' "$ingot" sensitivity m-F16.gguf --text text.txt --chunks 2 --imatrix one.gguf \
  --join one.sensitivity
expect_error 2 'at most' "$ingot" evaluate m-F16.gguf --text text.txt --part 1/9999
expect_error 2 'I/N' "$ingot" evaluate m-F16.gguf --text text.txt --part 3/2

# Inputs that change, and plans that are wrong or hostile.
plan late 2 hash in/x.gguf in/y.gguf
cp q8.gguf in/x.gguf
touch -d '2001-02-03' in/x.gguf
expect_error 3 'has changed since the plan' "$ingot" run-work late.json --task 1
"$ingot" split m-F16.gguf split --shards 2 -q
plan shard 1 hash split-00001-of-00002.gguf
touch -d '2001-02-03' split-00002-of-00002.gguf
expect_error 3 'has changed since the plan' "$ingot" run-work shard.json --task 1
echo '{{ messages }}' >template
plan template 1 check q4.gguf --template template
touch -d '2001-02-03' template
expect_error 3 'has changed since the plan' "$ingot" run-work template.json --task 1
folder_of() { "$ingot" plan-work --jobs 2 -- "$@" | grep '"folder"'; }
[[ $(folder_of hash q4.gguf) != $(folder_of hash q8.gguf) ]] || fail "two plans share a folder"
[[ $(folder_of hash q4.gguf) == $(folder_of hash q4.gguf) ]] || fail "a plan has another folder when made again"
expect_error 2 'exists; --force' "$ingot" plan-work --jobs 2 --parts . -- quantize m-F16.gguf merged.gguf Q4_0
expect_error 2 'two results' "$ingot" plan-work --jobs 2 --parts ./p/ -- imatrix collect m-F16.gguf --text text.txt -o p/1.gguf
expect_error 2 'no place for --shard' "$ingot" plan-work --jobs 2 -- convert in/x.gguf z.gguf --shard 1/2
if "$ingot" --help | grep -e --revision >/dev/null; then
  expect_error 2 'no place for a password' "$ingot" plan-work --jobs 2 -- hash https://me:word@localhost/x.gguf
fi
expect_error 2 'stands one of check, convert' "$ingot" plan-work --jobs 2 -- edit q4.gguf
expect_error 2 'exists; --force' "$ingot" plan-work --jobs 2 -- quantize m-F16.gguf merged.gguf Q4_0
expect_error 2 'no option --frob' "$ingot" plan-work --jobs 2 -- hash q4.gguf --frob
expect_error 2 'no place for --output' "$ingot" plan-work --jobs 2 -- hash q4.gguf -o x
expect_error 2 'there is no task 3' "$ingot" run-work late.json --task 3
expect_error 3 'no file of `ingot plan-work`' "$ingot" run-work one.json --task 1
refuse() {
  printf '{"kind": "ingot work", "folder": "h", "list": false, "tasks": [%s], "join": {"argv": [], "inputs": [], "outputs": []}}' \
    "$1" >hostile.json
  expect_error 3 "$2" "$ingot" run-work hostile.json --task 1
}
refuse '{"argv": ["edit", "q4.gguf", "--set", "a=b"], "inputs": [], "outputs": []}' 'no command for tasks'
refuse '{"argv": ["sh", "-c", "touch x"], "inputs": [], "outputs": []}' 'no command for tasks'
refuse '{"argv": [], "inputs": [], "outputs": []}' 'task 1 is empty'
refuse '{"argv": ["hash", 1], "inputs": [], "outputs": []}' 'has no "argv"'
refuse '{"argv": ["hash", "q4.gguf"], "inputs": [], "outputs": ["a", "b"], "printed": true}' 'must have one output'
refuse '' 'has no "folder"'

# Killed at any moment and run again, beside a second process that runs the same task.
rm -r hash-json
for after in 1 2 3; do
  timeout -s KILL "0.00$after" "$ingot" run-work hash-json.json -q >/dev/null 2>&1 || true
done
"$ingot" run-work hash-json.json --task 1 -q &
"$ingot" run-work hash-json.json --task 1 -q
wait $!
"$ingot" hash models/[a-e].gguf --as json >one
"$ingot" run-work hash-json.json >joined
expect_same one joined
