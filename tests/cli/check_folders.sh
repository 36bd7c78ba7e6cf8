# SPDX-License-Identifier: MIT
# Folders: what is checked, what is skipped and why, and that nothing checked is not "ok".
"$ingot" sample good.gguf -q
"$ingot" convert good.gguf weights.safetensors -q

# Nothing to check: an empty folder, one without a model, models behind a link or under other names.
mkdir empty texts
echo text >texts/readme.md
for folder in empty texts; do
  expect 2 "$ingot" check "$folder" 2>message
  grep -q "^ingot: $folder: nothing was checked: " message || fail "it says: $(cat message)"
done

mkdir -p linked others/deep
ln -s ../texts linked/folder
cp good.gguf others/model.bin
cp good.gguf others/deep/blob
cp weights.safetensors others/
printf '\x80\x04x' >others/weights.pt
expect 2 "$ingot" check linked 2>/dev/null
expect 2 "$ingot" check others 2>/dev/null

# A folder with a model, too: the model is the answer, and with --strict the others are no longer
# passed over.
cp good.gguf others/good.GGUF
expect 0 "$ingot" check others
expect 1 "$ingot" check others --strict >/dev/null
"$ingot" check others --json >others.json
"$ingot" check others --sarif >others.sarif
python '
import json
models = json.load(open("others.json"))
verdicts = {model["file"]: model["verdict"] for model in models}
assert verdicts == {"others/good.GGUF": "ok", "others/model.bin": "skipped", "others/deep/blob": "skipped",
                    "others/weights.safetensors": "skipped", "others/weights.pt": "skipped"}, verdicts
assert all(model["reason"] and not model["findings"] for model in models if model["verdict"] == "skipped")
run, = json.load(open("others.sarif"))["runs"]
notes = run["invocations"][0]["toolExecutionNotifications"]
assert len(notes) == 4 and all("skipped" in note["message"]["text"] for note in notes), notes
'
# The store of a cache: a file behind a link with a name is checked once, one without is checked by its digest.
digest=$(sha256sum good.gguf | cut -d ' ' -f 1)
mkdir -p hub/blobs hub/snapshots/main ollama/blobs
cp good.gguf hub/blobs/"$digest"
ln -s ../../blobs/"$digest" hub/snapshots/main/good.gguf
cp good.gguf ollama/blobs/sha256-"$digest"
expect 0 "$ingot" check --strict hub ollama >stores.txt
expect_count() { [[ $(grep -c "$1" stores.txt) == "$2" ]] || fail "$(cat stores.txt)"; }
expect_count hub/snapshots/main/good.gguf 1
expect_count hub/blobs 0
expect_count ollama/blobs/sha256- 1
expect 0 "$ingot" check --strict hub/blobs >/dev/null
head -c 100 good.gguf >ollama/blobs/sha256-"${digest//[0-9]/0}"
expect 3 "$ingot" check ollama >/dev/null
# The highest status wins: a refusal stays one beside an empty folder.
cp texts/readme.md page.gguf
expect 3 "$ingot" check page.gguf empty >/dev/null 2>&1
expect 2 "$ingot" check good.gguf empty >/dev/null 2>&1

# Named .gguf and something else: a loader fails there. Under its own name it is what it is.
cp weights.safetensors fake.gguf
expect 3 "$ingot" check fake.gguf
expect 0 "$ingot" check weights.safetensors

# How often which rule was broken, over all files; SARIF knows a finding again.
mkdir many
for name in a b; do
  "$ingot" edit good.gguf -o many/$name.gguf --remove general.architecture --set Odd-Key:u32=1 -q
done
"$ingot" check many >many.txt || true
grep -qE '^ +2 +2  [a-z]+ +[a-z_]+  ' many.txt || fail "no counts by rule: $(cat many.txt)"
grep -A1 '^many/a.gguf: ' many.txt | tail -n 1 | grep -q '^  ' || fail "findings before the verdict: $(cat many.txt)"
[[ $(grep -c 'rename the key' many.txt) == 1 ]] || fail "advice twice: $(cat many.txt)"
"$ingot" check many --sarif >many.sarif || true
python '
import json
run, = json.load(open("many.sarif"))["runs"]
prints = [result["partialFingerprints"]["ingotFinding/v1"] for result in run["results"]]
assert len(prints) == len(set(prints)) > 1, prints
assert run["automationDetails"]["id"] and all(
    rule["fullDescription"]["text"] and rule["help"]["text"] for rule in run["tool"]["driver"]["rules"])
'
