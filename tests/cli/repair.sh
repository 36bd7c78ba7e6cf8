# SPDX-License-Identifier: MIT
# A list of what was done, and a file that is better for it.
"$ingot" sample good.gguf -q
expect 1 "$ingot" repair good.gguf -o out.gguf 2>message
grep -q 'nothing needs repair' message || fail "it says: $(cat message)"
[[ ! -e out.gguf ]] || fail "a file without a reason"

# Bytes after the end.
cp good.gguf tail.gguf
echo polyglot >>tail.gguf
expect 1 "$ingot" check tail.gguf >/dev/null
"$ingot" repair tail.gguf --dry-run
"$ingot" repair tail.gguf -o out.gguf >/dev/null
expect 0 "$ingot" check --data out.gguf >/dev/null
expect_same good.gguf out.gguf
expect_error 2 '--force' "$ingot" repair tail.gguf -o out.gguf
expect_error 2 'new file' "$ingot" repair tail.gguf -o tail.gguf --force
"$ingot" repair tail.gguf -o out.gguf --force --json >report.json
python '
import json
report = json.load(open("report.json"))
assert report["output"] == "out.gguf" and report["dropped_tensors"] == 0, report
assert [step["key"] for step in report["steps"]] == [None]
'

# A download that was cut off.
size=$(stat -c %s good.gguf)
head -c $((size * 3 / 4)) good.gguf >cut.gguf
expect_error 3 '--drop-broken' "$ingot" repair cut.gguf -o rest.gguf
"$ingot" repair cut.gguf -o rest.gguf --drop-broken -q
"$ingot" tensors rest.gguf --json | python3 -c '
import json, sys
assert 0 < len(json.load(sys.stdin)) < 21
'
for name in $("$ingot" tensors rest.gguf --json | python3 -c '
import json, sys
print("\n".join(tensor["name"] for tensor in json.load(sys.stdin)))'); do
  "$ingot" extract good.gguf "$name" -o - | cmp -s - <("$ingot" extract rest.gguf "$name" -o -) ||
    fail "$name is not what it was"
done

# A name that is too long is not cut; editing can change it.
python '
import struct
name = b"n" * 65
header = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
header += struct.pack("<Q", len(name)) + name + struct.pack("<IQIQ", 1, 8, 0, 0)
open("long.gguf", "wb").write(header + bytes(-len(header) % 32) + bytes(32))
'
expect_error 3 'its name has more than 64 bytes; 1 of 1 tensors' "$ingot" repair long.gguf -o x.gguf
[[ ! -e x.gguf ]] || fail "a name was cut"
"$ingot" --lenient edit long.gguf --rename-tensor "$(printf 'n%.0s' {1..65})=short" -o x.gguf -q
expect 0 "$ingot" tensors x.gguf short >/dev/null

# Shards become one file.
python3 "$tests/make_shards.py" m
"$ingot" repair m-00002-of-00003.gguf -o one.gguf
"$ingot" tensors one.gguf --json | grep -c '"name"'
rm m-00002-of-00003.gguf
expect_error 3 '1 of 3 shards is missing; 1 of 3 tensors would be left out' \
  "$ingot" repair m-00001-of-00003.gguf -o two.gguf
"$ingot" repair m-00001-of-00003.gguf -o two.gguf --drop-broken 2>message >/dev/null
grep -q '1 of 3 tensors are left out' message || fail "it says: $(cat message)"
rm m-00003-of-00003.gguf
expect_error 3 '2 of 3 shards are missing; 2 of 3 tensors would be left out' \
  "$ingot" repair m-00001-of-00003.gguf -o x.gguf

echo 'no model' >text.gguf
expect_error 3 'GGUF' "$ingot" repair text.gguf -o x.gguf
expect_error 2 'give -o OUT' "$ingot" repair good.gguf
