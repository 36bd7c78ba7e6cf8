# SPDX-License-Identifier: MIT
# A catalogue: what it holds of files, sets, refused ones; what is read again and what is dropped;
# queries that only read; duplicates, outliers, exports.
export HOME=$PWD/home
unset XDG_CACHE_HOME INGOT_CACHE
status=0
"$ingot" catalog query 'SELECT 1' >/dev/null 2>message || status=$?
if grep -q 'built without SQLite' message; then exit 77; fi
((status == 4)) && grep -q "there is no catalogue; 'ingot catalog add' makes one" message || fail "none: $(cat message)"

mkdir -p models/deep odd
small=(--layers 1 --embedding 64 --feed-forward 64 --vocab 300 -q)
"$ingot" sample models/a.gguf "${small[@]}"
"$ingot" sample models/deep/qwen.gguf --arch qwen2 --seed 7 "${small[@]}"
"$ingot" split models/a.gguf models/set --shards 2 -q
head -c 5000 models/a.gguf >"models/cut$(printf '\n').gguf"
head -c 5000 models/a.gguf >$'models/cut\n\e[31m.gguf'
echo 'no model' >models/note.txt

# sql QUERY: the rows as Python's json module reads them, one line each.
sql() { "$ingot" catalog query "$1" --db c.db --json | python 'import json, sys
for row in json.load(sys.stdin): print(*row.values(), sep="|")'; }
# is EXPECTED QUERY
is() { local found; found=$(sql "$2"); [[ $found == "$1" ]] || fail "$2: $found"; }
# adds EXPECTED WORD...
adds() {
  local expected=$1 found
  shift
  found=$("$ingot" catalog "$@" --db c.db --json | python 'import json, sys
told = json.load(sys.stdin)
print(*(told[name] for name in ("read", "unchanged", "dropped", "refused", "failed")))')
  [[ $found == "$expected" ]] || fail "$*: $found"
}

echo "# rows are what show, metadata, tensors and check say"
adds '6 0 0 2 0' add models
is "$PWD/models/a.gguf|llama|$(stat -c %s models/a.gguf)" \
  "SELECT path, architecture, size_bytes FROM files WHERE path LIKE '%/a.gguf'"
is '2' "SELECT count(*) FROM files WHERE verdict = 'refused' AND path LIKE '%/cut%'"
is $'0|2\n1|2' "SELECT shard, shard_count FROM files WHERE path LIKE '%/set-%' ORDER BY path"
is 'wal|ok' "SELECT 'wal', * FROM pragma_integrity_check"
python '
import json, os, sqlite3, subprocess, sys
def run(*words):
    return json.loads(subprocess.run([os.environ["ingot"], *words, "--json"], stdout=subprocess.PIPE).stdout)
base = sqlite3.connect("c.db")
base.text_factory = bytes
rows = lambda query, *values: base.execute(query, values).fetchall()
shards = ("models/set-00001-of-00002.gguf", "models/set-00002-of-00002.gguf")
for path in ("models/a.gguf", "models/deep/qwen.gguf", "models/cut\n\x1b[31m.gguf", *shards):
    [(number, verdict)] = rows("SELECT id, verdict FROM files WHERE path = ?", os.path.abspath(path))
    checked = run("check", path)
    assert verdict.decode() == checked["verdict"], (path, verdict)
    if path in shards:
        continue
    found = [(f["rule"], f["severity"], f["message"], f["key"], f["tensor"]) for f in checked["findings"]]
    text = lambda value: None if value is None else value.decode()
    kept = [tuple(map(text, row)) for row in
            rows("SELECT rule, severity, message, key, tensor FROM findings WHERE file_id = ? ORDER BY rowid", number)]
    assert kept == found, (kept, found)
    if verdict == b"refused":
        assert rows("SELECT count(*) FROM keys WHERE file_id = ?", number) == [(0,)]
        continue
    tensors = run("tensors", path)
    told = {t["name"]: (t["type"], t["shape"], t["bytes"]) for t in tensors}
    assert told == {name.decode(): (kind.decode(), json.loads(shape), size) for name, kind, shape, size in
                    rows("SELECT name, type, shape, size_bytes FROM tensors WHERE file_id = ?", number)}
    keys = {key.decode(): (kind.decode(), value, length) for key, kind, value, length in
            rows("SELECT key, type, value, length FROM keys WHERE file_id = ?", number)}
    assert {key: kind for key, (kind, *_) in keys.items()} == {k["key"]: k["type"] for k in run("metadata", path)}
    assert keys["general.file_type"] == ("uint32", 1, None), keys["general.file_type"]
    assert next(value for key, (kind, value, _) in keys.items() if kind == "float32") in (1e-5, 1e-6), keys
    kind, tokens, length = keys["tokenizer.ggml.tokens"]
    assert kind == "array" and length == 300 and len(json.loads(tokens)) > 50 and len(tokens) < 3072
total = rows("SELECT count(*) FROM tensors t JOIN files f ON f.id = t.file_id WHERE f.path LIKE \"%/set-%\"")
assert total == rows("SELECT count(*) FROM tensors t JOIN files f ON f.id = t.file_id WHERE f.path LIKE \"%/a.gguf\"")
'
"$ingot" catalog query 'SELECT path FROM files' --db c.db >table
if grep -q $'\e' table; then fail "a control character is printed"; fi
grep -q 'cut\\n\\x1b\[31m.gguf' table || fail "$(cat table)"
"$ingot" catalog query "SELECT 1 AS value UNION ALL SELECT path FROM files WHERE path LIKE '%cut%'" --db c.db >table
if grep -q $'\e' table; then fail "a control character is printed below a number"; fi

echo "# long texts are kept once, with their digest"
python 'print("{{ messages }}" * 200, end="")' >long.jinja
for name in b c; do
  "$ingot" edit models/a.gguf -o models/$name.gguf --set-file tokenizer.chat_template=long.jinja -q
done
adds '2 6 0 0 0' add models
is '1024|2800|1|1' "SELECT DISTINCT length(value), k.length, text = replace(hex(zeroblob(200)), '00', '{{ messages }}'),
  template = digest FROM keys k JOIN texts USING (digest) JOIN files f ON f.id = file_id WHERE key = 'tokenizer.chat_template'"
is 1 'SELECT count(*) FROM texts'

echo "# what is as before is not read; what is gone is dropped; a changed shard is the whole set"
adds '0 8 0 0 0' update
rm models/c.gguf models/cut*
touch -d 2020-01-01 models/set-00002-of-00002.gguf
id=$(sql "SELECT id FROM files WHERE path LIKE '%set-00001%'")
adds '2 3 3 0 0' update
is "$id" "SELECT id FROM files WHERE path LIKE '%set-00001%'"
rm -r models/deep
adds '0 4 1 0 0' add models
is 0 "SELECT count(*) FROM keys WHERE file_id NOT IN (SELECT id FROM files)"
is 0 "SELECT count(*) FROM tensors WHERE file_id NOT IN (SELECT id FROM files)"
adds '1 0 0 0 0' add models/a.gguf --digests
adds '0 1 0 0 0' add models/a.gguf --digests
"$ingot" hash models/a.gguf --json >hashes.json
is 1 "SELECT count(*) FROM tensors WHERE name = 'output_norm.weight' AND digest = '$(python '
import json
print(next(t["digests"]["sha256"] for t in json.load(open("hashes.json"))["tensors"]
           if t["name"] == "output_norm.weight"))')'"
if (($(id -u) != 0)); then
  chmod 0 models/b.gguf
  expect 4 "$ingot" catalog update --db c.db >/dev/null 2>message
  is failed "SELECT verdict FROM files WHERE path LIKE '%/b.gguf'"
  chmod 600 models/b.gguf
fi

echo "# duplicates and outliers"
ln models/a.gguf models/link.gguf
"$ingot" catalog add models -q --db c.db
"$ingot" catalog duplicates --db c.db --json 2>said | python '
import json, sys
rows = {row["path"].rpartition("/")[2]: row for row in json.load(sys.stdin)}
assert set(rows) == {"b.gguf", "link.gguf", "set-00001-of-00002.gguf"}, rows
assert all(row["same_as"].endswith("/a.gguf") for row in rows.values()), rows
assert rows["link.gguf"]["same_file"] == 1 and rows["b.gguf"]["same_file"] == 0 and rows["b.gguf"]["by"] == "sample"'
grep -q 'note: 2 of these are the same by a sample alone: .*digests were not computed' said || fail "it claims more than it knows: $(cat said)"
"$ingot" catalog add models -q --db proven.db --digests
"$ingot" catalog duplicates --db proven.db --json 2>said | python 'import json, sys
assert {row["by"] for row in json.load(sys.stdin)} == {"digest"}'
[[ ! -s said ]] || fail "it doubts digests: $(cat said)"
"$ingot" edit models/a.gguf -o odd/base.gguf --set general.repo_url=https://huggingface.co/Acme/Base/ \
  --set general.license=mit -q
for name in 1 2 3; do
  "$ingot" edit models/b.gguf -o odd/$name.gguf --set general.base_model.0.organization:string=Acme \
    --set general.base_model.0.name:string=Base --set general.license=MIT -q
done
"$ingot" edit odd/3.gguf --in-place --set general.license=apache-2.0 --set tokenizer.chat_template=other -q
"$ingot" catalog add odd --db odd.db -q
"$ingot" catalog outliers --db odd.db --json | python '
import json, sys
rows = json.load(sys.stdin)
assert [(row["path"][-9:], row["what"], row["of"]) for row in rows] == [
    ("odd/3.gguf"[-9:], "license", "base"), ("odd/3.gguf"[-9:], "template", "most")], rows
assert rows[0]["value"] == "apache-2.0" and rows[0]["expected"] == "mit" and rows[1]["files"] == 2, rows'

echo "# a query only reads, one statement, and of this file"
cp c.db before.db
for query in "DELETE FROM files" "DROP TABLE keys" "VACUUM INTO 'x.db'" "ATTACH 'x.db' AS x" "PRAGMA user_version = 7"; do
  expect_error 2 'a query only reads' "$ingot" catalog query "$query" --db c.db
done
[[ ! -e x.db ]] || fail "a query wrote a file"
expect_error 2 'one statement' "$ingot" catalog query 'SELECT 1; SELECT 2' --db c.db
expect_error 2 'no such column: unknown' "$ingot" catalog query 'SELECT unknown FROM files' --db c.db
timeout --preserve-status -s INT 1 "$ingot" catalog query \
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n' --db c.db || status=$?
((status == 130)) || fail "an endless query ends with $status"

echo "# files that are no catalogue stay as they are"
python 'import sqlite3; b = sqlite3.connect("other.db"); b.execute("CREATE TABLE t(x)"); b.commit()'
cp other.db other.before
expect_error 4 'the database of another program' "$ingot" catalog add models --db other.db
expect_same other.db other.before
expect_error 4 'not a database' "$ingot" catalog add models --db models/note.txt
expect_error 4 'No such file' "$ingot" catalog add nothere --db c.db
expect_error 2 'add takes' "$ingot" catalog add --db c.db
expect_error 2 '--parquet DIR or --jsonl DIR' "$ingot" catalog export --db c.db
"$ingot" catalog add models -q
[[ -s home/.cache/ingot/catalog.db ]] || fail "no catalogue in the cache folder"

echo "# exports"
"$ingot" catalog export --jsonl lines --db c.db -q
"$ingot" catalog export --parquet tables --db c.db -q
expect_error 2 '--force' "$ingot" catalog export --parquet tables --db c.db
"$ingot" catalog export --parquet tables --db c.db -q --force
python3 "$tests/read_parquet.py" c.db lines tables

echo "# triggers of a stranger do nothing, and a number that is no integer is none in Parquet"
python 'import shutil, sqlite3
shutil.copy("c.db", "strange.db")
base = sqlite3.connect("strange.db")
base.execute("CREATE TRIGGER t AFTER UPDATE ON places BEGIN DELETE FROM files; END")
base.execute("CREATE TRIGGER u AFTER INSERT ON files BEGIN DELETE FROM keys; END")
base.execute("UPDATE files SET parameters = 1e19")
base.commit()'
"$ingot" catalog add models --db strange.db -q
[[ $("$ingot" catalog query 'SELECT count(*) > 0 AS n FROM files, keys' --db strange.db --json | tr -d ' \n') == '[{"n":1}]' ]] ||
  fail "a trigger has deleted rows"
"$ingot" catalog export --parquet strange_tables --db strange.db -q
python 'import sqlite3
base = sqlite3.connect("strange.db")
base.execute("DROP TRIGGER t")
base.execute("DROP TRIGGER u")
base.execute("UPDATE files SET parameters = NULL")
base.commit()'
"$ingot" catalog export --jsonl strange_lines --db strange.db -q
python3 "$tests/read_parquet.py" strange.db strange_lines strange_tables
