#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_tokenizer.py BENCH_TOKENIZER INGOT MODEL...

Encodes English, code and mixed scripts on one thread, in turns with llama.cpp and, for families that
tokenizer.json can express, Hugging Face's library (bench/install_engines), and prints MB/s of text
and the ratio of medians. The texts are made of this repository: its pages, its sources, and the
letters of many scripts.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

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
    return json.loads(lines[-1])["texts"] if result.returncode == 0 and lines else None


def measure(commands, texts):
    """Median milliseconds of each engine and text, in turns."""
    times = {engine: [[] for _ in texts] for engine in commands}
    for _ in range(ROUNDS):
        for engine, command in commands.items():
            for place, text in enumerate(run([*command, *texts]) or []):
                times[engine][place].append(text["ms"])
    return {engine: [statistics.median(one) if one else None for one in all_times]
            for engine, all_times in times.items()}


def main():
    bench, ingot, *models = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        texts = {"English": first_bytes((ROOT / "docs").glob("*.md")),
                 "code": first_bytes((ROOT / "src").rglob("*.cpp")), "mixed": make_mixed()}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = [folder / name for name in texts]
        print("| model | text | Ingot MB/s | llama.cpp | Hugging Face |\n| --- | --- | --- | --- | --- |")
        for model in models:
            exported = folder / (pathlib.Path(model).stem + ".json")
            subprocess.run([ingot, "export-tokenizer", "--force", "-q", model, exported], check=False)
            commands = {"ingot": [bench, model], "llama": ["node", ENGINES, "llama.cpp", model]}
            if exported.exists():
                commands["hugging"] = ["node", ENGINES, "hugging-face", exported]
            times = measure(commands, files)
            for place, file in enumerate(files):
                size = file.stat().st_size / 1000
                cells = [pathlib.Path(model).stem, file.name]
                own = times["ingot"][place]
                cells.append(f"{size / own:.1f}")
                for engine in ("llama", "hugging"):
                    other = times.get(engine, [None] * len(files))[place]
                    cells.append(f"{size / other:.1f} ({other / own:.1f}x)" if other else "-")
                print("| " + " | ".join(cells) + " |", flush=True)


main()
