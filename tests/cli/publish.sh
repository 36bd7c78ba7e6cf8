# SPDX-License-Identifier: MIT
# A folder to upload, from the recipe of docs/publish.md: made once, and again only where something changed.
recipe=$tests/../../examples/release.yaml
diff <(sed -n '/^```yaml$/,/^```$/p' "$tests/../../docs/publish.md" | sed '1d;$d') <(sed 1d "$recipe") >&2 ||
  fail "docs/publish.md shows another recipe"
golden=${INGOT_SHARED:-$tests/../../../shared}/golden/eval
for i in {1..20}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt
if [[ -e $golden/tiny-bytes-f32.gguf ]]; then
  "$ingot" convert "$golden/tiny-bytes-f32.gguf" model-F16.gguf --type F16 -q
  "$ingot" imatrix convert "$golden/tiny-bytes.imatrix.dat" -o imatrix.gguf -q
else
  "$ingot" sample model-F16.gguf --layers 1 --embedding 256 --feed-forward 256 --context 64 -q
  "$ingot" imatrix collect model-F16.gguf --text text.txt -o imatrix.gguf -q
fi
cp "$recipe" .

# A plan writes nothing.
"$ingot" publish release.yaml --dry-run >plan
for line in 'Q4_K_M  *new  *model-Q4_K_M.gguf, model-Q4_K_M.html  *[0-9.]* [KM]iB' 'README.md  *new  *README.md  *-' \
  'SHA256SUMS  *new  *SHA256SUMS, manifest.json  *-'; do
  grep -q "^$line$" plan || fail "no plan of $line: $(cat plan)"
done
"$ingot" publish release.yaml --dry-run --json >plan.json
[[ ! -e model-GGUF && ! -e model-GGUF.publish.json ]] || fail "--dry-run wrote something"

"$ingot" publish release.yaml >printed 2>remarks
[[ $(tail -n 1 printed) == "  hf upload acme/model-GGUF model-GGUF ." ]] || fail "no command"
grep -q 'kl.json' remarks || fail "no word on the results that are missing"
ls model-GGUF >files
cat >expected <<'END'
README.md
SHA256SUMS
manifest.json
model-Q2_K.gguf
model-Q2_K.html
model-Q4_K_M.gguf
model-Q4_K_M.html
model-Q8_0.gguf
model-Q8_0.html
END
expect_same expected files
(cd model-GGUF && sha256sum -c --quiet SHA256SUMS && "$ingot" hash --verify manifest.json -q >verdicts && rm verdicts)
[[ $(wc -l <model-GGUF/SHA256SUMS) == 3 ]] || fail "not a line for each model"
"$ingot" quantize model-F16.gguf same.gguf Q4_K_M --imatrix imatrix.gguf -q \
  --override-kv general.license=str:mit --override-kv general.quantized_by=str:acme
expect_same same.gguf model-GGUF/model-Q4_K_M.gguf
python 'import json, os
for step in json.load(open("plan.json"))["steps"]:
    files = {"model-GGUF/" + name for name in step["files"]}
    assert files and all(map(os.path.exists, files)), step
    models = [os.path.getsize(name) for name in files if name.endswith(".gguf")]
    assert step["size_bytes"] == (sum(models) if models else None), (step, models)'
head -n 3 model-GGUF/README.md | grep -qx 'license: mit' || fail "no front matter"
grep -qx '# A small model' model-GGUF/README.md || fail "no title"

# times: every file with the time of its last change, which also tells a file that was written again.
times() { find model-GGUF -type f -printf '%P %T@ %i\n' | sort; }
# expect_made STEP...: these steps run, and no others.
expect_made() {
  "$ingot" publish release.yaml --json 2>/dev/null | python 'import json, sys
made = [step["step"] for step in json.load(sys.stdin)["steps"] if step["reason"]]
assert made == sys.argv[1:], made' "$@"
}
times >before
expect_made
times | diff before - || fail "a second run changed something"
"$ingot" evaluate model-F16.gguf model-GGUF/*.gguf --text text.txt --ctx-size 64 --json >kl.json
expect_made README.md
grep -q '+/-' model-GGUF/README.md || fail "no divergence"
rm model-GGUF/model-Q2_K.html
expect_made Q2_K README.md SHA256SUMS
echo >>model-GGUF/SHA256SUMS
expect_made SHA256SUMS
sed -i 's/, Q2_K//' release.yaml
"$ingot" publish release.yaml --dry-run | grep -q '^README.md  *its inputs change' || fail "no reason"
expect_made README.md SHA256SUMS
[[ ! -e model-GGUF/model-Q2_K.gguf && ! -e model-GGUF/model-Q2_K.html ]] || fail "a type that left is there"
sed -i 's/max_shard_size: 5G/shards: 2/' release.yaml
expect_made Q8_0 Q4_K_M README.md SHA256SUMS
[[ -e model-GGUF/model-Q8_0-00002-of-00002.gguf && ! -e model-GGUF/model-Q8_0.gguf ]] || fail "no shards"
(cd model-GGUF && sha256sum -c --quiet SHA256SUMS)
[[ $(wc -l <model-GGUF/SHA256SUMS) == 4 ]] || fail "not a line for each shard"

# A model folder with its recipe in it; the folder of the recipe is where paths begin.
python3 "$tests/make_model_folder.py" Tiny-Llama
printf 'source: .\ntypes: Q8_0\noutput: ../out\nname: tiny\n' >Tiny-Llama/release.yaml
"$ingot" publish Tiny-Llama -q
"$ingot" quantize Tiny-Llama same-Q8_0.gguf Q8_0 -q
expect_same same-Q8_0.gguf out/tiny-Q8_0.gguf
(cd out && sha256sum -c --quiet SHA256SUMS && "$ingot" hash --verify manifest.json -q >verdicts && rm verdicts)

# An edit of what is published names the lists that it makes stale, and what makes them anew.
"$ingot" edit out/tiny-Q8_0.gguf --in-place --set general.name=Renamed 2>remarks >/dev/null
for list in SHA256SUMS manifest.json; do
  grep -q "^ingot: out/$list: warning: its digests are those before the edit; .*-o $list --force" remarks ||
    fail "$list: $(cat remarks)"
done
(cd out && "$ingot" hash *.gguf --as sha256sum -o SHA256SUMS --force -q && "$ingot" hash *.gguf -o manifest.json --force -q &&
  sha256sum -c --quiet SHA256SUMS && "$ingot" hash --verify manifest.json -q >../verdicts)
"$ingot" edit out/tiny-Q8_0.gguf -o other.gguf --set general.name=other 2>remarks >/dev/null
[[ ! -s remarks ]] || fail "another folder: $(cat remarks)"

# A hub's names have no blanks; files may have them.
printf 'source: model-F16.gguf\ntypes: [Q8_0]\noutput: named\nname: Tiny  Bytes 2.0!\n' >named.yaml
"$ingot" publish named.yaml --dry-run | grep -qx '  hf upload ORG/Tiny-Bytes-2.0-GGUF named .' || fail "no name of a hub"

# What lies in the folder and is not of the recipe is named, and stays.
"$ingot" publish named.yaml -q 2>remarks
[[ ! -s remarks ]] || fail "$(cat remarks)"
mkdir named/old
touch named/model-Q4_0-00002-of-00003.gguf
"$ingot" publish named.yaml >printed 2>remarks
grep -q 'remove them, or they are uploaded, too: model-Q4_0-00002-of-00003.gguf, old$' remarks || fail "$(cat remarks)"
grep -qx 'named has all of the recipe, and other files. To upload it:' printed || fail "$(cat printed)"
"$ingot" publish named.yaml --json 2>remarks | grep -q '"model-Q4_0-00002-of-00003.gguf"' || fail "no others"
[[ -e named/old && -e named/model-Q4_0-00002-of-00003.gguf ]] || fail "a file that is not of the recipe is gone"

# What is refused.
refuse() {
  printf '%b' "$1" >wrong.yaml
  expect_error 2 "$2" "$ingot" publish wrong.yaml
}
refuse 'source: a.gguf\ntypes: [Q8_0]\noutput: o\nlicence: mit\n' 'did you mean "license"'
refuse 'author: me\n' 'no "author"; it may have source, types, output, name, title, repository, license,'
refuse 'types: [Q8_0]\noutput: o\n' '"source" is missing'
refuse 'source: model-F16.gguf\ntypes: [Q9]\noutput: o\n' 'there is no TYPE'
refuse 'source: model-F16.gguf\ntypes: {a: b}\noutput: o\n' '"types" must be a list'
refuse 'source: model-F16.gguf\ntypes: [Q8_0]\noutput: Tiny-Llama\n' 'there are other files'
refuse 'source: model-F16.gguf\ntypes: [Q8_0]\noutput: o\nshards: 2\nmax_shard_size: 1G\n' 'give one'
valid='source: model-F16.gguf\ntypes: [Q8_0]\noutput: o\n'
refuse 'source: ""\ntypes: [Q8_0]\noutput: o\n' '"source" is missing'
printf 'nothing' >no.json
for member in 'base_model: no repo|"base_model" is named' 'repository: alone|"repository" is named' 'license: Apache 2.0|"license" is a hub' \
  'name: a/b|without a folder' 'name: -a|without "-"' 'imatrix: none.gguf|there is no file none.gguf' \
  'results: no.json|no.json'; do
  printf '%b%s\n' "$valid" "${member%|*}" >wrong.yaml
  expect_error 2 "${member#*|}" "$ingot" publish wrong.yaml --dry-run
done
printf 'source: [\n' >wrong.yaml
expect_error 3 'not YAML' "$ingot" publish wrong.yaml
