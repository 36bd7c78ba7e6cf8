#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bench_evaluate.py BENCH_EVALUATE MODEL [ROUNDS]

Tokens a second of the forward pass beside those that llama.cpp (bench/install_ggml) takes a prompt
in, in turns: a chunk of 512 tokens, logits of its second half, on all cores; medians, by the clock.
The engine multiplies weights of few bits by activations rounded to eight, the pass in float32.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "evaluate"))
from llama_engine import Engine, EngineMissing, EngineModel  # noqa: E402

CHUNK = 512


def main():
    program, path = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    try:
        model = EngineModel(Engine(os.environ.get("INGOT_GGML_CPU")), path, CHUNK,
                            len(os.sched_getaffinity(0)))
    except EngineMissing as error:
        sys.exit(f"bench_evaluate.py: {error}")
    ids = [i * 7919 % model.vocabulary_size() for i in range(CHUNK)]
    rates = {"pass": [], "llama.cpp": []}
    model.decode(ids, CHUNK // 2)  # reads the file
    for _ in range(rounds):
        lines = subprocess.run([program, path, "1", "1"], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines()
        rates["pass"].append(float(lines[-1].split()[0]))
        begin = time.monotonic()
        model.decode(ids, CHUNK // 2)
        rates["llama.cpp"].append(CHUNK / (time.monotonic() - begin))
    for name, values in rates.items():
        print(f"{name:10} {statistics.median(values):7.1f} tokens/s")


if __name__ == "__main__":
    main()
