#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_models.py PROGRAM [--size BYTES] [--runs N] [--folder F] [--only TEXT] [--json]

Commands that read or write whole models, each against what the system needs for the same bytes, in
turns. Medians, and the largest memory that was resident, mapped pages included.

  split, merge, convert  cp, with the copy flushed to the disk, as the commands flush theirs
  convert to bump        that, and `openssl dgst -sha256` of the model: the file holds this digest
  hash                   `openssl dgst -sha256` of the file: that digest, and those of the tensors
  hash sha256            of the tensors alone: the rate of `openssl speed -multi CORES`
  hash xxh3-128, check --data, tensors --stats
                         cat FILE >/dev/null
  diff --data            cat A B >/dev/null
  quantize               cat of the input, cp and flush of the output

The models are made by `PROGRAM sample`, flushed, dropped from the page cache and read into it again,
as a model that was downloaded before. Commands that read all data are measured with a model that
was just written, too ("fresh"): its pages in the cache are smaller.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile
import time

BITS_PER_WEIGHT = {"F16": 16, "Q8_0": 8.5, "Q4_0": 4.5, "Q4_K": 4.5}


class Run:
    """Seconds and peak memory of one command, or of a shell's line."""

    def __init__(self, command):
        if isinstance(command, str):
            command = ["sh", "-c", command]
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.perf_counter() - begin
        self.peak = usage.ru_maxrss * 1024
        if child.returncode != 0:
            raise SystemExit(f"{command}: exit status {child.returncode}")


class Case:
    """A command, and its reference: a shell's line, or the seconds that it takes by its rate."""

    def __init__(self, name, command, reference_name, reference, outputs=()):
        self.name = name
        self.command = [str(part) for part in command]
        self.reference_name = reference_name
        self.reference = reference
        self.outputs = outputs

    def remove_outputs(self, folder):
        for pattern in self.outputs:
            for path in folder.glob(pattern):
                path.unlink()
        os.sync()


def openssl_rate():
    """SHA-256 of 1 MiB pieces on all cores, bytes per second."""
    command = ["openssl", "speed", "-multi", str(os.cpu_count()), "-evp", "sha256", "-bytes",
               "1048576", "-seconds", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"^sha256\s+([\d.]+)k", text, re.M)[1]) * 1000


def read_again(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(descriptor, 1 << 20):
        pass
    os.close(descriptor)


def write_again(path):
    """Leaves the file in the page cache as writing leaves it."""
    copy = path.with_suffix(".copy")
    with open(path, "rb") as source, open(copy, "wb") as target:
        while piece := source.read(1 << 20):
            target.write(piece)
    copy.replace(path)


def make_model(program, folder, type_name, size):
    path = folder / f"{type_name}.gguf"
    millions = max(1, round(size * 8 / BITS_PER_WEIGHT[type_name] / 1e6))
    subprocess.run([program, "sample", path, "--type", type_name, "--params", f"{millions}M", "-q"],
                   check=True)
    read_again(path)
    return path


def moving_cases(program, folder, model):
    subprocess.run([program, "split", model, folder / "part", "--shards", "4", "-q"], check=True)
    shards = sorted(folder.glob("part-*"))
    for shard in shards:
        read_again(shard)
    copy = f"cp {shlex.quote(str(model))} {folder}/copy && sync {folder}/copy"
    outputs = ["copy", "out*"]

    def case(name, command):
        return Case(name, [program, *command, "-q"], "`cp` and `sync`", copy, outputs)

    return [case("split --shards 4", ["split", model, folder / "out", "--shards", "4"]),
            case("merge of 4", ["merge", shards[0], folder / "out.gguf"]),
            case("convert --align 64", ["convert", model, folder / "out.gguf", "--align", "64"]),
            case("convert --endian big",
                 ["convert", model, folder / "out.gguf", "--endian", "big"]),
            case("convert to safetensors", ["convert", model, folder / "out.safetensors"])]


def bump_case(program, folder, model):
    name = shlex.quote(str(model))
    return Case("convert to bump", [program, "convert", model, folder / "out.bump", "--allow-loss",
                                    "--config-out", folder / "out.json", "-q"],
                "`cp`, `sync` and `openssl dgst`",
                f"cp {name} {folder}/copy && sync {folder}/copy && openssl dgst -sha256 {name}",
                ["copy", "out*"])


def reading_cases(program, model):
    cat = f"cat {shlex.quote(str(model))} >/dev/null"
    size = model.stat().st_size
    hashing = [program, "hash", model, "--no-file", "-q", "-a"]
    return [Case("hash", [program, "hash", model, "-q"], "`openssl dgst -sha256`",
                 f"openssl dgst -sha256 {shlex.quote(str(model))}"),
            Case("hash sha256", [*hashing, "sha256"], "`openssl speed`, all cores",
                 lambda: size / openssl_rate()),
            Case("hash xxh3-128", [*hashing, "xxh3-128"], "`cat`", cat),
            Case("check --data", [program, "check", model, "--data", "-q"], "`cat`", cat),
            Case("diff --data, of equal files", [program, "diff", model, model, "--data", "-q"],
                 "`cat` twice", f"{cat}; {cat}")]


def statistics_case(program, model):
    return Case("tensors --stats", [program, "tensors", model, "--stats", "--json"], "`cat`",
                f"cat {shlex.quote(str(model))} >/dev/null")


def quantizing_case(program, folder, model, recipe):
    sample = folder / f"sample-{recipe}.gguf"
    subprocess.run([program, "quantize", model, sample, recipe, "-q"], check=True)
    line = (f"cat {shlex.quote(str(model))} >/dev/null; cp {sample} {folder}/copy && "
            f"sync {folder}/copy")
    return Case(f"quantize {recipe}", [program, "quantize", model, folder / "out.gguf", recipe, "-q"],
                "`cat`, `cp` and `sync`", line, ["copy", "out*"])


def is_reading(case):
    return not case.outputs


def measure(case, folder, runs):
    own, reference = [], []
    for _ in range(runs):
        case.remove_outputs(folder)
        if callable(case.reference):
            reference.append(case.reference())
        else:
            reference.append(Run(case.reference).seconds)
        case.remove_outputs(folder)
        own.append(Run(case.command))
    case.remove_outputs(folder)
    seconds = statistics.median(run.seconds for run in own)
    limit = statistics.median(reference)
    return [seconds, case.reference_name, limit, seconds / limit,
            max(run.peak for run in own) / 2**20]


def cases_of(program, folder, type_name, model):
    if type_name == "F16":
        yield from moving_cases(program, folder, model)
        yield from reading_cases(program, model)
        for recipe in ("Q8_0", "Q4_0", "Q4_K_M"):
            yield quantizing_case(program, folder, model, recipe)
    if type_name == "Q4_K":
        yield bump_case(program, folder, model)
    yield statistics_case(program, model)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--size", type=float, default=4e9, help="bytes of each model, about")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", help="where models and outputs go: twice their size, and more")
    parser.add_argument("--only", default="", help="commands whose names have this text")
    parser.add_argument("--json", action="store_true", help="a table for scripts/bench")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    rows = []

    def add_row(case, model_name, folder):
        rows.append([f"`{case.name}`", model_name, *measure(case, folder, arguments.runs)])
        if not arguments.json:
            _, _, seconds, reference_name, limit, ratio, peak = rows[-1]
            print(f"{case.name:28} {model_name:21} {seconds:7.3f} s {ratio:6.2f} of "
                  f"{limit:.3f} s, {reference_name}; peak {peak:.0f} MiB", flush=True)

    for type_name in BITS_PER_WEIGHT:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
            folder = pathlib.Path(name)
            model = make_model(program, folder, type_name, arguments.size)
            model_name = f"{type_name}, {model.stat().st_size / 1e9:.1f} GB"
            cases = [case for case in cases_of(program, folder, type_name, model)
                     if arguments.only in case.name]
            for case in cases:
                add_row(case, model_name, folder)
            reading = [case for case in cases if is_reading(case)]
            if reading:
                write_again(model)
            for case in reading:
                add_row(case, f"{model_name}, fresh", folder)
    if arguments.json:
        print(json.dumps({"columns": ["command", "model", "s", "reference", "s", "ratio",
                                      "peak, MiB"], "rows": rows}))


if __name__ == "__main__":
    main()
