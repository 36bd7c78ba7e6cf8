#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_tokenizer.py INGOT [MODEL...] [--json]

Encodes English, code and mixed scripts on one thread, in turns with llama.cpp and, for families that
tokenizer.json can express, Hugging Face's library (bench/install_engines), and prints MB/s of text
and the ratio of medians, for the given models and for vocabularies of BPE, UGM, RWKV and PLaMo-2
that it makes; and the CPU milliseconds in which Ingot makes a tokenizer. The texts are made of this
repository: its pages, its sources, and the letters of many scripts."""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import bench_vocabularies

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = ROOT / "bench" / "bench_engines.mjs"
ROUNDS = 3
SIZE = 1_000_000  # bytes of each text


def first_bytes(pages):
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(pages))
    return text.encode()[:SIZE].decode("utf-8", "ignore")


def make_mixed():
    draw = random.Random(1)
    ranges = [(0x61, 0x7A), (0x3B1, 0x3C9), (0x430, 0x44F), (0x4E00, 0x9FA0), (0xAC00, 0xD7A3),
              (0x905, 0x939), (0x3041, 0x3096), (0x1F600, 0x1F64F)]
    words, size = [], 0
    while size < SIZE:
        first, last = draw.choice(ranges)
        word = "".join(chr(draw.randint(first, last)) for _ in range(draw.randint(1, 8)))
        words.append(word)
        size += len(word.encode()) + 1
    return " ".join(words)


def run(command):
    result = subprocess.run(command, capture_output=True, check=False)
    lines = [line for line in result.stdout.decode().splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if result.returncode == 0 and lines else {"texts": []}


def measure(commands, texts):
    """Median milliseconds of each engine and text, in turns, and of making Ingot's tokenizer."""
    times = {engine: [[] for _ in texts] for engine in commands}
    made = []
    for _ in range(ROUNDS):
        for engine, command in commands.items():
            figures = run([*command, *texts])
            made += [figures["make_ms"]] if "make_ms" in figures else []
            for place, text in enumerate(figures["texts"]):
                times[engine][place].append(text["ms"])
    medians = {engine: [statistics.median(one) if one else None for one in all_times]
               for engine, all_times in times.items()}
    return medians, statistics.median(made)


def rows_of(model, bench, ingot, files, folder):
    """A row for each text: MB/s, and of the engines how many times slower they are."""
    exported = folder / (pathlib.Path(model).stem + ".json")
    subprocess.run([ingot, "export-tokenizer", "--force", "-q", model, exported], check=False,
                   capture_output=True)
    commands = {"ingot": [bench, model], "llama": ["node", ENGINES, "llama.cpp", model]}
    if exported.exists():
        commands["hugging"] = ["node", ENGINES, "hugging-face", exported]
    times, made = measure(commands, files)
    for place, file in enumerate(files):
        size = file.stat().st_size / 1000
        own = times["ingot"][place]
        cells = [pathlib.Path(model).stem.removeprefix("ggml-vocab-"), file.name, f"{size / own:.1f}"]
        for engine in ("llama", "hugging"):
            other = times.get(engine, [None] * len(files))[place]
            cells.append(f"{size / other:.1f} ({other / own:.1f}x)" if other else "-")
        yield [*cells, f"{made:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ingot")
    parser.add_argument("models", nargs="*", help="default: those of INGOT_BENCH_VOCABULARIES")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = pathlib.Path(options.ingot).parent / "bench_tokenizer"
    given = os.environ.get("INGOT_BENCH_VOCABULARIES")
    models = options.models or (sorted(pathlib.Path(given).glob("*.gguf")) if given else [])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        texts = {"English": first_bytes((ROOT / "docs").glob("*.md")),
                 "code": first_bytes((ROOT / "src").rglob("*.cpp")), "mixed": make_mixed()}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = [folder / name for name in texts]
        for model in [*models, *bench_vocabularies.make_all(folder, list(texts.values()))]:
            rows += rows_of(model, bench, options.ingot, files, folder)
    columns = ["vocabulary", "text", "MB/s", "llama.cpp", "Hugging Face", "made in ms"]
    if options.json:
        print(json.dumps({"columns": columns, "rows": rows}))
        return
    for row in [columns, ["---"] * len(columns), *rows]:
        print("| " + " | ".join(row) + " |")


main()
