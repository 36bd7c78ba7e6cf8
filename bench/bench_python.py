#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_python.py [--quick]: times the Python package, found through PYTHONPATH, in milliseconds.

  open        a header of 151,936 tokens, 151,387 merges, token types and 400 tensors: opened, each key's
              value as an object, all tokens as str; the same by gguf-py if INGOT_GGUF_PY names a copy
  iterate     256,000 tokens as str
  dequantize  Q4_K, to an array that is there, on one thread; nanoseconds for each float
  import      the package beyond NumPy

The best of some runs counts, in CPU time: other programs disturb it least.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

import ingot


def best(work, runs):
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
print(1000 * (time.process_time() - start))
"""


IMPORT = """
import time, numpy
start = time.process_time()
import ingot
print(1000 * (time.process_time() - start))
"""


def import_time():
    """Milliseconds of CPU time, of several processes the least."""
    return min(float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True,
                                    text=True).stdout) for _ in range(9))


def main():
    runs = 3 if "--quick" in sys.argv else 15
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder) / "header.gguf"
        make_header(header, 151_936)
        ours = best(lambda: read_all(header), runs)
        print(f"open, all values, all tokens   {ours:9.2f} ms")
        if os.environ.get("INGOT_GGUF_PY"):
            theirs = float(subprocess.run(
                [sys.executable, "-c", GGUF_PY, os.environ["INGOT_GGUF_PY"], header], check=True,
                capture_output=True, text=True).stdout)
            print(f"the same by gguf-py            {theirs:9.2f} ms, {theirs / ours:.0f} times")
        many = pathlib.Path(folder) / "many.gguf"
        make_header(many, 256_000)
        tokens = ingot.open(many).metadata["tokenizer.ggml.tokens"]
        print(f"iterate 256,000 tokens         {best(lambda: [0 for _ in tokens], runs):9.2f} ms")
    rows = numpy.random.default_rng(1).standard_normal((256, 4096), numpy.float32)
    blocks = numpy.tile(ingot.quantize(rows, "Q4_K"), (16, 1))
    out = numpy.empty((4096, 4096), numpy.float32)
    spent = best(lambda: ingot.dequantize(blocks, "Q4_K", out=out, threads=1), runs)
    print(f"dequantize Q4_K                {spent * 1e6 / out.size:9.3f} ns a float, "
          f"{out.nbytes / spent / 1e6:.1f} GB/s")
    spent = best(lambda: ingot.quantize(rows, "Q4_K", threads=1), runs)
    print(f"quantize Q4_K                  {spent * 1e6 / rows.size:9.3f} ns a float")
    print(f"import beyond NumPy            {import_time():9.2f} ms")


main()
