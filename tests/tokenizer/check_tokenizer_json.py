#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_tokenizer_json.py PROGRAM [--list]

Exports the vocabularies of the golden files and compares the ids that Hugging Face's libraries give
with the golden ones. Needs node and the npm packages that bench/install_engines installs into
$INGOT_ENGINES (default: build/engines), and $INGOT_SHARED; without them it skips (77).

--list prints the rows that differ in the form of the tables below.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
ENGINES = pathlib.Path(os.environ.get("INGOT_ENGINES") or ROOT / "build" / "engines")

# Numbers of the strings whose ids differ, with or without special tokens; docs/tokenizers.md says
# why. Files that are not named differ in none.
DIFFERENT = {
    "native": {
        "ggml-vocab-bert-bge.gguf": [44, 130, 131, 147, 148, 167, 185],
        "bpe-gemma4.gguf": [10],
        "ugm-keepspaces.gguf": [8, 60, 107, 111, 115, 120, 125, 130],
        "ugm-t5.gguf": [60, 92, 97],
        "wpm-cased.gguf": [22],
        "wpm-uncased.gguf": [22],
    },
    "js": {
        "bpe-gemma4.gguf": [10],
    },
}
# Families that tokenizer.json has no form for.
REFUSED = {"bpe-hybriddna.gguf", "bpe-whitespace.gguf", "none.gguf", "plamo2-tiny.gguf",
           "rwkv-tiny.gguf"}
# Families of which the JavaScript library is only close.
NATIVE_ONLY = ("ggml-vocab-bert", "wpm-", "ugm-")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def cases_of(golden, name):
    """Number, text, and the ids of the text with parse_special, without and with special tokens."""
    for number, row in enumerate(golden["files"][name]["cases"]):
        inline = "strings" not in golden
        text = row[0] if inline else golden["strings"][number].get("text")
        wanted = (row[2], row[4]) if inline else (row[1], row[3])
        if isinstance(text, str):  # else it is not UTF-8, and no string of JSON
            yield number, text, [ids["ids"] if isinstance(ids, dict) else ids for ids in wanted]


def different_rows(kind, golden, name, exported):
    cases = list(cases_of(golden, name))
    script = ROOT / "tests" / "tokenizer" / "encode_with_library.mjs"
    run = subprocess.run(["node", script, kind, ENGINES, exported], check=True, capture_output=True,
                         input=json.dumps([text for _, text, _ in cases]).encode())
    return [number for (number, _, wanted), ids in zip(cases, json.loads(run.stdout))
            if ids != wanted]


def check(program, golden, folder, names, is_listing):
    failures = 0
    for name in names:
        model = folder / name
        with tempfile.TemporaryDirectory() as target:
            exported = pathlib.Path(target) / "tokenizer.json"
            run = subprocess.run([program, "export-tokenizer", "-q", model, exported],
                                 capture_output=True, check=False)
            if (run.returncode == 3) != (name in REFUSED) or run.returncode not in (0, 3):
                print(f"{name}: status {run.returncode}: {run.stderr.decode()}")
                failures += 1
            if run.returncode != 0:
                continue
            for kind in DIFFERENT:
                if kind == "js" and name.startswith(NATIVE_ONLY):
                    continue
                rows = different_rows(kind, golden, name, exported)
                if is_listing:
                    if rows:
                        print(f'{kind}        "{name}": {rows},')
                elif rows != DIFFERENT[kind].get(name, []):
                    print(f"{name} ({kind}): differs in rows {rows}, not in "
                          f"{DIFFERENT[kind].get(name, [])}")
                    failures += 1
    return failures


def main():
    program, is_listing = sys.argv[1], "--list" in sys.argv
    text = SHARED / "golden" / "text"
    if not text.is_dir():
        skip(f"there is no {text}; set INGOT_SHARED")
    if shutil.which("node") is None or not (ENGINES / "node_modules").is_dir():
        skip(f"node or {ENGINES}/node_modules is missing; please run: bench/install_engines")
    failures = 0
    for golden_name, folder in (("tokenize.json", SHARED / "models"),
                                ("synthetic.json", text / "synthetic")):
        golden = json.loads((text / golden_name).read_text(encoding="utf-8"))
        failures += check(program, golden, folder, sorted(golden["files"]), is_listing)
    sys.exit(1 if failures else 0)


main()
