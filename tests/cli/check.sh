# SPDX-License-Identifier: MIT
# Findings, verdicts and statuses; text, JSON and SARIF; files and folders.
"$ingot" sample good.gguf -q
expect 0 "$ingot" check good.gguf
expect 0 "$ingot" check --data good.gguf --strict

# bad.gguf: an alignment that is not there, a key that is not snake_case, bytes after the end.
python '
import struct
def text(t): return struct.pack("<Q", len(t)) + t
keys = [(b"general.architecture", b"gpt2"), (b"General.Name\x1b[2J", b"x")]
head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(keys))
for key, value in keys: head += text(key) + struct.pack("<I", 8) + text(value)
head += text(b"t") + struct.pack("<IQIQ", 1, 8, 0, 0)
head += bytes(-len(head) % 32)
open("bad.gguf", "wb").write(head + struct.pack("<8f", *[float("nan")] * 8) + b"polyglot")
open("nan.gguf", "wb").write(head.replace(b"General.Name\x1b[2J", b"general.name.xxx")
                             + struct.pack("<8f", *[float("nan")] * 8))
'
expect 1 "$ingot" check bad.gguf
expect 1 "$ingot" check --data nan.gguf

# No time at all is always over.
expect_error 4 'not done in 0 s' "$ingot" check --data --time-limit 0 good.gguf
# What the header tells comes all the same.
for options in '' --json; do
  # shellcheck disable=SC2086
  expect 4 "$ingot" check --data --time-limit 0 bad.gguf $options >found 2>said
  grep -q 'not done in 0 s' said || fail "no reason: $(cat said)"
  grep -q 'key_syntax' found && grep -q 'trailing_data' found || fail "findings of the header are lost: $(cat found)"
done
expect_error 2 'goes with --data' "$ingot" check --time-limit 0 good.gguf
"$ingot" check --data --time-limit 1000000 good.gguf >/dev/null

# A file that is cut off; one that is something else.
head -c 20000 good.gguf >cut.gguf
expect 3 "$ingot" check cut.gguf
echo '<!DOCTYPE html>' >page.gguf
expect 3 "$ingot" check page.gguf
# The highest status wins, and each file has its lines.
expect 3 "$ingot" check good.gguf bad.gguf page.gguf
expect_error 4 'No such file' "$ingot" check missing.gguf

# Notes are no warnings, unless they are to be.
"$ingot" sample big.gguf --endian big -q
expect 0 "$ingot" check big.gguf
expect 1 "$ingot" check --strict big.gguf

# Standard input; a pipe is copied, so that its weights are checked, too.
expect 0 "$ingot" check --data - <good.gguf
expect 0 "$ingot" check --data - < <(cat good.gguf)
"$ingot" check --data nan.gguf | sed 's/^nan.gguf:/-:/' >expected || true
cat nan.gguf | "$ingot" check --data - >found && fail "weights of a pipe are not checked"
expect_same expected found
# It may be one that never blocks and has no bytes yet.
python 'import os, subprocess, sys, time
ends = os.pipe()
os.set_blocking(ends[0], False)
checked = subprocess.Popen([sys.argv[1], "check", "--data", "--strict", "-"], stdin=ends[0], stdout=subprocess.DEVNULL)
os.close(ends[0])
time.sleep(0.2)
with open(ends[1], "wb") as pipe: pipe.write(open("good.gguf", "rb").read())
assert checked.wait() == 0' "$ingot"
# Bytes without an end are no model, or follow one.
expect 3 timeout 20 "$ingot" check --data - < <(yes) >found
expect 3 timeout 20 "$ingot" check --data - < <(printf GGUF && yes) >found
mkdir copies
cat good.gguf | TMPDIR=$PWD/copies "$ingot" check --data - >/dev/null
rmdir copies || fail "a copy stays"
{ cat good.gguf || true; } | TMPDIR=$PWD/nowhere expect_error 4 'in $TMPDIR: No such file' "$ingot" check --data -

# A folder: every model once, in the order of names, folders in folders too.
mkdir -p models/deep
cp good.gguf models/b.gguf
cp page.gguf models/deep/a.gguf
python3 "$tests/make_shards.py" models/deep/m
echo text >models/readme.txt
expect 3 "$ingot" check models
ln -s .. models/deep/loop
expect 3 "$ingot" check models >/dev/null
mkdir empty
expect 2 "$ingot" check empty 2>/dev/null

# JSON: an object for one file, an array for several.
status=0
"$ingot" check --data --json bad.gguf >bad.json || status=$?
((status == 1)) || fail "status $status"
"$ingot" check --json models >models.json || true
"$ingot" check --json page.gguf >page.json || true
python '
import json
bad = json.load(open("bad.json"))
assert bad["verdict"] == "error" and bad["file"] == "bad.gguf", bad
rules = [finding["rule"] for finding in bad["findings"]]
for rule in ("key_syntax", "key_control_characters", "trailing_data", "data_not_finite"):
    assert rule in rules, rule
for finding in bad["findings"]:
    assert set(finding) == {"rule", "severity", "category", "message", "offset", "key", "tensor", "shard"}
assert bad["errors"] == 1
models = json.load(open("models.json"))
assert [model["verdict"] for model in models] == ["ok", "skipped", "refused", "warning"], models
page = json.load(open("page.json"))
assert page["verdict"] == "refused" and page["findings"][0]["rule"] == "not_gguf"
'

# SARIF: what platforms need is there, and refers to what is there.
"$ingot" check --data --sarif bad.gguf page.gguf >findings.sarif || true
python '
import json
sarif = json.load(open("findings.sarif"))
assert sarif["version"] == "2.1.0"
run, = sarif["runs"]
assert all(rule["help"]["text"] in rule["help"]["markdown"] for rule in run["tool"]["driver"]["rules"])
rules = run["tool"]["driver"]["rules"]
assert len({rule["id"] for rule in rules}) == len(rules) > 70
assert run["invocations"] == [{"executionSuccessful": True}]
for result in run["results"]:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in ("note", "warning", "error") and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] in ("bad.gguf", "page.gguf")
uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
assert uris == {"bad.gguf", "page.gguf"}
'
# What failed says why, in every form.
"$ingot" check --json missing.gguf good.gguf >failed.json 2>/dev/null || true
"$ingot" check --sarif missing.gguf good.gguf >failed.sarif 2>/dev/null || true
"$ingot" check --json --data --time-limit 0 good.gguf >late.json 2>/dev/null || true
python '
import json
missing, good = json.load(open("failed.json"))
assert (missing["verdict"], missing["code"]) == ("failed", "io_error"), missing
assert "No such file" in missing["reason"] and "reason" not in good, missing
late = json.load(open("late.json"))
assert late["code"] == "interrupted" and "--time-limit" in late["reason"], late
run, = json.load(open("failed.sarif"))["runs"]
invocation, = run["invocations"]
note, = invocation["toolExecutionNotifications"]
assert not invocation["executionSuccessful"] and note["level"] == "error", invocation
assert note["descriptor"] == {"id": "io_error"} and "No such file" in note["message"]["text"], note
'
expect_error 2 'two formats' "$ingot" check --json --sarif bad.gguf
expect_error 2 'FILE is missing; the usage is: ingot check' "$ingot" check

# No finding drives the terminal.
"$ingot" check bad.gguf | grep -q $'\x1b' && fail "an escape sequence came through" || true

# Rules.
"$ingot" check --list-rules | grep -q '^template_unsafe' || fail "no rule"
"$ingot" check --list-rules --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)) > 70'

# Findings of one rule are limited.
python '
import struct
def text(t): return struct.pack("<Q", len(t)) + t
head = b"GGUF" + struct.pack("<IQQ", 3, 0, 50)
for i in range(50): head += text(b"A%d" % i) + struct.pack("<IB", 7, 1)
open("many.gguf", "wb").write(head)
'
[[ $("$ingot" check --limit 2 many.gguf | grep -c '\[key_syntax\]') == 3 ]] || fail "limit"
[[ $("$ingot" check --limit 0 many.gguf | grep -c '\[key_syntax\]') == 50 ]] || fail "no limit"

# --- one byte is not "1 bytes"
"$ingot" sample one.gguf -q
printf x >>one.gguf
"$ingot" check one.gguf >found && fail "a byte too many is no finding"
grep -q ': 1 byte follows the last tensor (' found || fail "it says: $(cat found)"
