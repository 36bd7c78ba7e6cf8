#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_move.py PROGRAM [--params P] [--runs N] [--folder F]

Commands that only move or read data, against what the system needs for the same file, in turns:

  split, merge      cp, with the copy flushed to the disk (both sides flush all that they write)
  hash sha256       openssl speed, per core: bytes per second of CPU time, reading included
  hash xxh3-128     cat FILE >/dev/null
  diff --data       cat A B >/dev/null, of two equal files

The model is made by `PROGRAM sample` and is in the page cache. Medians, and the largest memory that
was resident, mapped pages included.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time


class Run:
    """Seconds of wall and CPU time, and peak memory, of one command."""

    def __init__(self, command):
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.perf_counter() - begin
        if child.returncode != 0:
            raise SystemExit(f"{command}: exit status {child.returncode}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024


def openssl_rate():
    """SHA-256 of 1 MiB pieces, bytes per second of CPU time."""
    command = ["openssl", "speed", "-evp", "sha256", "-bytes", "1048576", "-seconds", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"^sha256\s+([\d.]+)k", text, re.M)[1]) * 1000


def remove(paths):
    for path in paths:
        path.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--params", default="1B")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        model, copy, merged = folder / "model.gguf", folder / "copy.gguf", folder / "merged.gguf"
        subprocess.run([program, "sample", model, "--params", arguments.params, "-q"], check=True)
        size = model.stat().st_size
        subprocess.run([program, "split", model, folder / "part", "--shards", "4", "-q"], check=True)
        first = folder / "part-00001-of-00004.gguf"
        copy_command = ["sh", "-c", f"cp {model} {copy} && sync {copy}"]
        hash_command = [program, "hash", model, "--no-file", "-a"]
        commands = {
            "cp + sync": copy_command,
            "split": [program, "split", model, folder / "out", "--shards", "4", "-q"],
            "merge": [program, "merge", first, merged, "-q"],
            "cat": ["sh", "-c", f"cat {model} >/dev/null"],
            "hash sha256": [*hash_command, "sha256"],
            "hash sha256 -j 1": [*hash_command, "sha256", "-j", "1"],
            "hash sha256, file too": [program, "hash", model],
            "hash xxh3-128": [*hash_command, "xxh3-128"],
            "hash xxh3-128, file too": [program, "hash", model, "-a", "xxh3-128"],
            "diff --data": [program, "diff", model, model, "--data", "-q"],
        }
        runs = {name: [] for name in commands}
        rates = []
        for _ in range(arguments.runs):
            for name, command in commands.items():
                remove([copy, merged, *folder.glob("out-*")])
                os.sync()
                runs[name].append(Run(command))
            rates.append(openssl_rate())

    print(f"{arguments.runs} runs each, in turns; the model has {size} bytes; {os.cpu_count()} cores")
    wall = {name: statistics.median(run.wall for run in of) for name, of in runs.items()}
    cpu = {name: statistics.median(run.cpu for run in of) for name, of in runs.items()}
    reference = {"split": "cp + sync", "merge": "cp + sync", "hash xxh3-128": "cat",
                 "hash xxh3-128, file too": "cat", "diff --data": "cat"}
    for name, of in runs.items():
        line = f"{name:24} wall {wall[name]:7.3f} s  CPU {cpu[name]:7.3f} s"
        line += f"  peak {max(run.peak for run in of) / 2**20:5.0f} MiB"
        if name in reference:
            line += f"   {wall[name] / wall[reference[name]]:.2f} x {reference[name]}"
        print(line)
    rate = statistics.median(rates)
    print(f"openssl sha256 {rate / 1e9:.3f} GB/s per core")
    for name, passes in (("hash sha256 -j 1", 1), ("hash sha256", 1), ("hash sha256, file too", 2)):
        own = passes * size / cpu[name]
        print(f"{name:24} {own / 1e9:.3f} GB/s per core of CPU time, {own / rate:.3f} x openssl; "
              f"{cpu[name] / wall[name]:.2f} cores busy")


if __name__ == "__main__":
    main()
