#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_process.py PROGRAM [--runs N] [--json]

How long a whole process takes: `PROGRAM show` and `PROGRAM check` on a model with a vocabulary of
256,000 tokens, `PROGRAM fit` on one of 80 layers and 128,256 tokens, `PROGRAM tensors` on a file of
100,000 tensors, and /bin/true as the least that any process takes, in turns. Wall and CPU time;
medians and minima. With INGOT_GGUF_TOOLS=PATH, gguf-tools (github.com/antirez/gguf-tools) takes
its turn with the listing. The models are made by `PROGRAM sample`, the file of tensors here, and
are in the page cache.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import tempfile
import time


def run_once(command, silent):
    """Wall and CPU seconds of one process."""
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        raise SystemExit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}")
    return wall, usage.ru_utime + usage.ru_stime


def write_tensors(path, count):
    """A file of many small tensors: F32, one number each."""
    def text(value):
        return struct.pack("<Q", len(value)) + value

    header = b"GGUF" + struct.pack("<IQQ", 3, count, 0)
    infos = b"".join(text(b"blk.%d.weight.%d" % divmod(i, 10)) + struct.pack("<IQIQ", 1, 1, 0, 32 * i)
                     for i in range(count))
    padding = bytes(-len(header + infos) % 32)
    with open(path, "wb") as file:
        file.write(header + infos + padding + bytes(32 * count))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--json", action="store_true", help="a table for scripts/bench")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "wb") as null:
        model = os.path.join(folder, "vocabulary.gguf")
        make_model = [program, "sample", model, "--vocab", "256000", "--embedding", "64"]
        subprocess.run(make_model, check=True, stdout=null, stderr=null)
        layers = os.path.join(folder, "layers.gguf")
        make_layers = [program, "sample", layers, "--vocab", "128256", "--embedding", "64",
                       "--layers", "80", "--context", "131072"]
        subprocess.run(make_layers, check=True, stdout=null, stderr=null)
        tensors = os.path.join(folder, "tensors.gguf")
        write_tensors(tensors, 100_000)
        contexts = ",".join(f"{2 ** power}k" for power in range(10))
        commands = {"/bin/true": ["/bin/true"],
                    "ingot --version": [program, "--version"],
                    "ingot show": [program, "show", model],
                    "ingot show --json": [program, "show", "--json", model],
                    "ingot check": [program, "check", "--fail-on", "error", model],
                    "ingot tensors": [program, "tensors", tensors],
                    "ingot tensors --json": [program, "tensors", "--json", tensors],
                    "ingot fit": [program, "fit", layers, "--device", "24G"],
                    "ingot fit --markdown": [program, "fit", layers, "--device", "24G", "--markdown",
                                          "--contexts", contexts]}
        if peer := os.environ.get("INGOT_GGUF_TOOLS"):
            commands["gguf-tools show"] = [peer, "show", tensors]
        times = {name: [] for name in commands}
        for _ in range(arguments.runs):
            for name, command in commands.items():
                times[name].append(run_once(command, null.fileno()))
        size = os.path.getsize(model)

    least = statistics.median(wall for wall, _ in times["/bin/true"])
    rows = []
    for name, results in times.items():
        walls, cpus = zip(*results)
        wall = statistics.median(walls)
        rows.append([name, wall * 1e3, min(walls) * 1e3, statistics.median(cpus) * 1e3, wall / least])
    if arguments.json:
        columns = ["command", "ms", "best, ms", "CPU, ms", "of `/bin/true`"]
        print(json.dumps({"columns": columns, "rows": [[f"`{row[0]}`", *row[1:]] for row in rows]}))
        return
    print(f"{arguments.runs} runs each, in turns; the model has {size} bytes")
    for name, wall, best, cpu, ratio in rows:
        print(f"{name:20} wall {wall:7.3f} ms (min {best:.3f})   CPU {cpu:7.3f} ms"
              f"   {ratio:.2f} x /bin/true")


if __name__ == "__main__":
    main()
