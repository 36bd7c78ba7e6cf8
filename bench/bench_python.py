#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_python.py PROGRAM [--json]: times the Python package of the build that PROGRAM is of, in turns with
the same work in C++ (bench_python_limits).

  open        a header of 151,936 tokens, 151,387 merges, token types and 400 tensors: opened, each key's
              value as an object, all tokens as str; the same by gguf-py if INGOT_GGUF_PY names a copy
  iterate     256,000 tokens as str
  dequantize  4096 x 4096 of Q4_K, to an array that is there, on one thread
  quantize    256 x 4096 to Q4_K, on one thread
  import      the package beyond NumPy, in turns with NumPy

The best of some runs counts, in CPU time: other programs disturb it least. Needs the interpreter that the
package is for.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(PROGRAM.parent.parent / "python"))

import numpy

import ingot

TURNS = 5



def best(work, runs=3):
    """Milliseconds of CPU time."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def make_header(path, tokens):
    """Words of a few letters, as vocabularies have them; the data of the tensors is a hole."""
    words = [f"{number * 2654435761 % 2 ** 32:x}"[:3 + number % 6] + f"{number:x}"
             for number in range(tokens)]
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "llama"
        for number in range(22):
            writer[f"llama.number_{number}"] = number
        writer["tokenizer.ggml.model"] = "gpt2"
        writer["tokenizer.ggml.tokens"] = words
        writer["tokenizer.ggml.token_type"] = [1] * tokens
        writer["tokenizer.ggml.merges"] = [f"{a} {b}" for a, b in zip(words, words[549:])]
        one = numpy.zeros((1, 32), numpy.float32)
        for number in range(400):
            writer.add_tensor(f"blk.{number}.weight", one)


def read_all(path):
    with ingot.open(path) as model:
        values = list(model.metadata.values())
        return values, model.metadata["tokenizer.ggml.tokens"].tolist()


GGUF_PY = """
import sys, time
sys.path.insert(0, sys.argv[1])
import gguf
start = time.process_time()
reader = gguf.GGUFReader(sys.argv[2])
values = [field.contents() for field in reader.fields.values()]
print("open", 1000 * (time.process_time() - start))
"""


IMPORT = """
import sys, time
for name in ("numpy", "ingot"):
    start = time.process_time()
    __import__(name)
    print(name, 1000 * (time.process_time() - start))
"""


def printed_times(command):
    """The lines NAME MILLISECONDS that a program prints."""
    environment = {**os.environ, "PYTHONPATH": sys.path[0]}
    run = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=environment)
    return {name: float(figure) for name, figure in map(str.split, run.stdout.splitlines())}


def keep_best(figures, measured):
    for name, figure in measured.items():
        figures[name] = min(figure, figures.get(name, figure))


def compare(folder):
    """Our figures and those of C++, in milliseconds by name."""
    header, many = folder / "header.gguf", folder / "many.gguf"
    make_header(header, 151_936)
    make_header(many, 256_000)
    tokens = ingot.open(many).metadata["tokenizer.ggml.tokens"]
    rows = numpy.random.default_rng(1).standard_normal((256, 4096), numpy.float32)
    blocks = numpy.tile(ingot.quantize(rows, "Q4_K"), (16, 1))
    out = numpy.empty((4096, 4096), numpy.float32)
    work = {"open": lambda: read_all(header), "iterate": lambda: [0 for _ in tokens],
            "dequantize": lambda: ingot.dequantize(blocks, "Q4_K", out=out, threads=1),
            "quantize": lambda: ingot.quantize(rows, "Q4_K", threads=1)}
    ours, limits = {}, {}
    for _ in range(TURNS):
        keep_best(limits, printed_times([PROGRAM.parent / "bench_python_limits", header, many]))
        keep_best(ours, {name: best(one) for name, one in work.items()})
        imports = printed_times([sys.executable, "-c", IMPORT])
        keep_best(ours, {"import": imports["ingot"]})
        keep_best(limits, {"import": imports["numpy"]})
    if os.environ.get("INGOT_GGUF_PY"):
        limits["gguf-py"] = printed_times([sys.executable, "-c", GGUF_PY, os.environ["INGOT_GGUF_PY"],
                                           header])["open"]
    return ours, limits


TITLES = {"open": "open, every value, 151,936 tokens as `str`", "iterate": "256,000 tokens as `str`",
          "dequantize": "`dequantize` 64 MiB from Q4_K", "quantize": "`quantize` 4 MiB to Q4_K",
          "import": "`import ingot`, beside `import numpy`"}


def main():
    with tempfile.TemporaryDirectory() as folder:
        ours, limits = compare(pathlib.Path(folder))
    rows = [[title, ours[name], limits[name], ours[name] / limits[name]] for name, title in TITLES.items()]
    if "gguf-py" in limits:
        rows.append(["the first row, beside gguf-py", ours["open"], limits["gguf-py"],
                     ours["open"] / limits["gguf-py"]])
    columns = ["work", "ms", "reference, ms", "of it"]
    if "--json" in sys.argv:
        print(json.dumps({"columns": columns, "rows": rows}))
        return
    for title, *figures in rows:
        print(f"{title:48}" + "".join(f"{figure:10.2f}" for figure in figures))


main()
