# SPDX-License-Identifier: MIT
# Keys and names change as asked, types stay, and no other byte changes.
"$ingot" sample model.gguf -q
cp model.gguf before.gguf
digests() { python '
import hashlib, json, subprocess, sys
tensors = json.loads(subprocess.run([sys.argv[1], "tensors", sys.argv[2], "--json"], check=True,
                                    capture_output=True).stdout)
with open(sys.argv[2], "rb") as file:
    for tensor in tensors:
        file.seek(tensor["file_offset"])
        print(tensor["name"], hashlib.sha256(file.read(tensor["bytes"])).hexdigest())
' "$ingot" "$1"; }
value() { "$ingot" metadata "$1" --raw "$2"; }
digests model.gguf >before.digests

# --- in place
"$ingot" edit model.gguf --in-place --set general.name='My model' -q
[[ $(value model.gguf general.name) == 'My model' ]] || fail "the name"
printf '{%% for m in messages %%}\n{{ m }}\n{%% endfor %%}' >chat.jinja
"$ingot" edit model.gguf --in-place --set-file tokenizer.chat_template=chat.jinja -q
value model.gguf tokenizer.chat_template | cmp - chat.jinja || fail "the template"
digests model.gguf | cmp - before.digests || fail "data changed"
[[ $(ls -A) == "before.digests
before.gguf
chat.jinja
model.gguf" ]] || fail "left behind: $(ls -A)"

# --- there and back: the same bytes
"$ingot" edit before.gguf -o there.gguf --set general.name=Other --rename-tensor output.weight=o -q
"$ingot" edit there.gguf -o back.gguf --rename-tensor o=output.weight -q \
  --set general.name="$(value before.gguf general.name)"
expect_same back.gguf before.gguf

# --- every type, arrays and nested arrays
"$ingot" edit before.gguf -o types.gguf -q --set a:u8=255 --set b:int8=-128 --set c:u16=65535 \
  --set d:i16=-1 --set e:uint32=4294967295 --set f:i32=-2147483648 --set g:f32=0.1 \
  --set h:bool=true --set i:string='=x: "y"' --set j:u64=18446744073709551615 \
  --set k:i64=-9223372036854775808 --set l:f64=1e300 --set m:f32=-Infinity \
  --set 'n:uint8[]=[1, 2]' --set 'o:string[]=["a", {"base64": "/w=="}, ""]' --set 'p:bool[]=[]' \
  --set 'q:u16[][]=[[1], [], {"type": "string", "values": ["z"]}]' --set 'r:f64[]=["NaN", 2]'
"$ingot" metadata types.gguf '?' --json | tee types.json
# What comes out as JSON goes in again.
python '
import json, subprocess, sys
arguments = []
for entry in json.load(open("types.json")):
    if entry["type"] == "array" and entry["element_type"] != "array":
        arguments += ["--set", entry["key"] + "=" + json.dumps(entry["value"])]
subprocess.run([sys.argv[1], "edit", "types.gguf", "-o", "again.gguf", "-q", *arguments], check=True)
' "$ingot"
expect_same types.gguf again.gguf

# --- arrays of arrays are written, and said to be refused elsewhere
"$ingot" edit before.gguf -o nested.gguf --set 'x:u16[][]=[[1], [2]]' 2>message >/dev/null
grep -q '^ingot: before.gguf: warning: "x" is an array of arrays' message ||
  fail "no warning: $(cat message)"
"$ingot" edit before.gguf -o flat.gguf --set 'x:u16[]=[1, 2]' 2>message >/dev/null
[[ ! -s message ]] || fail "a warning without a reason: $(cat message)"

# --- the type stays
"$ingot" edit types.gguf --in-place --set a=7 --set g=3 --set 'n=[9]' --set 'o=["q"]' -q
"$ingot" metadata types.gguf a g n o --json
expect_error 2 'from 0 to 255' "$ingot" edit types.gguf --in-place --set a=256
expect_error 2 'whole number' "$ingot" edit types.gguf --in-place --set a=1.5
expect_error 2 'true, yes, 1, false, no or 0' "$ingot" edit types.gguf --in-place --set h=maybe
expect_error 2 'JSON' "$ingot" edit types.gguf --in-place --set 'n=[1'
expect_error 2 'needs its type' "$ingot" edit types.gguf --in-place --set new.key=1
expect_error 2 'did you mean "general.url"' "$ingot" edit types.gguf --in-place --set general.ulr=1

# --- a new standard key has its usual type
"$ingot" edit types.gguf -o standard.gguf -q --set general.architecture=gptj \
  --set gptj.block_count=2 --set 'gptj.feed_forward_length=[1,2]' --set gptj.rope.freq_base=10000 \
  --set 'gptj.attention.sliding_window_pattern=[true,false]' --set general.finetune=1 \
  --set 'general.tags=["a","b"]' --set tokenizer.ggml.add_sep_token=true
"$ingot" metadata standard.gguf 'gptj.*' general.finetune general.tags '*add_sep*' --json
expect_error 2 'did you mean "general.name"' "$ingot" edit types.gguf --in-place --set general.nam=1

# --- removing, renaming, special tokens
"$ingot" edit types.gguf -o less.gguf -q --remove '[a-m]' --rename-key n=general.n --remove-tensor \
  'blk.1.*'
"$ingot" metadata less.gguf '?' general.n
"$ingot" tensors less.gguf 'blk.1.*' && fail "tensors are still there"
digests less.gguf | cmp - <(grep -v '^blk.1' before.digests) || fail "the wrong data went"
expect_error 1 'no key "nope"' "$ingot" edit types.gguf --in-place --remove nope
expect_error 1 'no tensor' "$ingot" edit types.gguf --in-place --rename-tensor nope=x
expect_error 2 'already a tensor' "$ingot" edit types.gguf --in-place \
  --rename-tensor output.weight=token_embd.weight
token=$("$ingot" metadata model.gguf tokenizer.ggml.tokens --json | python '
import json, sys
print(json.load(sys.stdin)[0]["value"][5])')
"$ingot" edit model.gguf --in-place --special-token eos "$token" --special-token-id pad 3 -q
"$ingot" metadata model.gguf '*eos_token_id' '*padding_token_id' --json
expect_error 1 'no token' "$ingot" edit model.gguf --in-place --special-token eos 'no such token'
expect_error 2 'did you mean' "$ingot" edit model.gguf --in-place --special-token eoss "$token"

# --- what would happen
cp model.gguf same.gguf
"$ingot" edit model.gguf --dry-run --set general.name=X --remove general.architecture >plan
grep -q 'in place' plan && grep -q 'would be written' plan || fail "the plan: $(cat plan)"
"$ingot" edit model.gguf --dry-run --json --reserve 100000 --set general.name=X >plan.json
python '
import json
plan, = json.load(open("plan.json"))
assert plan["dry_run"] and plan["file"] == "model.gguf", plan
assert plan["slack_bytes"] >= 100000 and 0 < plan["bytes_to_write"], plan
assert plan["changes"] == [{"action": "set_key", "name": "general.name", "new_name": None,
                            "type": "string", "value": "X", "old_type": "string",
                            "old_value": "My model"}], plan
'
expect_same model.gguf same.gguf
"$ingot" edit model.gguf --in-place --set general.name=My\ model | grep -q 'nothing to do' ||
  fail "something was done"

# --- usage
expect_error 2 '--in-place' "$ingot" edit model.gguf --set general.name=X
expect_error 2 'exclude' "$ingot" edit model.gguf --in-place -o x.gguf --set general.name=X
expect_error 2 'say what to change' "$ingot" edit model.gguf --in-place
expect_error 2 '--force' "$ingot" edit model.gguf -o before.gguf --set general.name=X
expect_error 2 'KEY=VALUE' "$ingot" edit model.gguf --in-place --set general.name
expect_same model.gguf same.gguf

# --- lists in lists, deeper than a file may have them
python 'open("deep.json", "w").write("[" * 200000 + "]" * 200000)'
expect_error 2 'nested deeper than 64' \
  "$ingot" edit types.gguf --in-place --set-file 'm:u32[]=deep.json'
python '
import json
value = 1
for depth in range(65):
    value = {"type": "u16" + "[]" * depth, "values": [value]}
    json.dump(value, open(f"levels_{depth + 1}.json", "w"))
'
"$ingot" edit types.gguf -o levels.gguf --set-file 'm:u16[]=levels_64.json' -q
expect_error 2 'nested deeper than 64' \
  "$ingot" edit types.gguf --in-place --set-file 'm:u16[]=levels_65.json'
expect_error 2 'not an object' "$ingot" edit types.gguf --in-place --set 'n=[{"a": 1}]'

# --- several models at once, with a summary; the others go on where one fails
for name in m1 m2 m3; do cp before.gguf $name.gguf; done
"$ingot" edit m1.gguf m2.gguf --in-place --set general.license=bsd >summary
grep -qx '2 files: 2 changed, 0 had nothing to do, 0 failed' summary || fail "$(cat summary)"
[[ $(value m1.gguf general.license)$(value m2.gguf general.license) == bsdbsd ]] || fail "licences"
"$ingot" edit m1.gguf m3.gguf --in-place --set general.license=mit --json | python '
import json, sys
assert [report["file"] for report in json.load(sys.stdin)] == ["m1.gguf", "m3.gguf"]'
"$ingot" edit flat.gguf --in-place --remove general.license -q
expect 1 "$ingot" edit m1.gguf flat.gguf m2.gguf --in-place --remove general.license >summary 2>errors
grep -qx '3 files: 2 changed, 0 had nothing to do, 1 failed' summary || fail "$(cat summary)"
grep -q 'flat.gguf' errors || fail "$(cat errors)"
expect_error 2 '-o OUT is for one' "$ingot" edit m1.gguf m2.gguf -o out.gguf --set a=b
# What --template sets; patterns may be expressions.
"$ingot" edit m1.gguf --in-place --template chat.jinja --remove 're:^general\.(name|author)$' -q
value m1.gguf tokenizer.chat_template | cmp - chat.jinja || fail "the template"
expect_error 2 'no regular expression' "$ingot" edit m1.gguf --in-place --remove 're:('
