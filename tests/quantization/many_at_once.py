#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""many_at_once.py PROGRAM [--params N] [--max-memory SIZE] [--share X] [--killed-params N] [--kills N] [--folder DIR]

Makes twenty types of one model in one pass and by twenty runs: the files are equal, the peak of the pass is below
--max-memory, and it takes at most --share of the CPU time of the runs. A smaller model is then made by passes that are
killed at random moments and resumed: equal, nothing but results is left, and of each result at most the tensor that
was in work is made twice. Prints the figures. All files lie in a folder of their own below DIR, which goes.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TYPES = ("F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q2_0 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K TQ1_0 "
         "TQ2_0 MXFP4_MOE").split()
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# The notes of a part: a digest and a letter, then of each finished tensor a digest and its error. docs/quantize.md.
HEAD_BYTES = 33
RECORD_BYTES = 32 + 10 * 8
# The begin of notes and the padding of tensors, of all results.
OTHER_BYTES = 1 << 16


def measured(*command):
    """Runs a command; its CPU time in seconds and its peak in bytes."""
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
            "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(used.ru_utime + used.ru_stime, used.ru_maxrss << 10)")
    seconds, peak = subprocess.run([sys.executable, "-c", code, *map(str, command)], check=True,
                                   stdout=subprocess.PIPE, text=True).stdout.split()
    return float(seconds), int(peak)


def digest(path):
    hasher = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.hexdigest()


def together(program, model, out):
    return [program, "quantize", model, *(word for name in TYPES for word in ("--to", name)), "--to-dir", out, "-q"]


def compare_passes(program, model, folder, options):
    seconds, digests = 0.0, {}
    for name in TYPES:
        alone = folder / "alone.gguf"
        seconds += measured(program, "quantize", model, alone, name, "-q")[0]
        digests[f"m-{name}.gguf"] = digest(alone)
        alone.unlink()
    out = folder / "out"
    at_once, peak = measured(*together(program, model, out), "--max-memory", options.max_memory)
    assert {path.name: digest(path) for path in out.iterdir()} == digests, "other files than those of single runs"
    shutil.rmtree(out)
    share = at_once / seconds
    print(f"{model.stat().st_size:,} bytes, {len(TYPES)} types: {seconds:.1f} s of CPU alone, {at_once:.1f} s at once, "
          f"{share:.2f} of it; peak {peak >> 20} MiB, limit {options.max_memory}", flush=True)
    limit = int(options.max_memory[:-1]) * UNITS[options.max_memory[-1]]
    assert peak <= limit, "more memory than the limit"
    assert share <= options.share, "too much time"


def finished(out):
    """The number of finished tensors of each result, by the notes beside its part."""
    return {path.name.partition(".gguf")[0]: max(0, path.stat().st_size - HEAD_BYTES) // RECORD_BYTES
            for path in out.glob("*.notes")}


def run_until(command, seconds):
    """Runs a command, kills it after some seconds, and returns whether it was killed and the bytes that it wrote."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    end = time.monotonic() + seconds
    while time.monotonic() < end and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)  # that of Popen waits, and nothing is known of what was waited for
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    facts = pathlib.Path(f"/proc/{process.pid}/io").read_text()
    written = dict(line.split(": ") for line in facts.splitlines())["wchar"]
    assert process.wait() in (0, -9), f"status {process.returncode}"
    return process.returncode != 0, int(written)


def kill_passes(program, model, folder, options):
    out = folder / "killed"
    command = together(program, model, out)
    begin = time.monotonic()
    _, whole = run_until(command, 1e9)
    needed = time.monotonic() - begin
    digests = {path.name: digest(path) for path in out.iterdir()}
    plans = json.loads(subprocess.run([*command, "--dry-run", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    sizes = {}
    for plan in plans:
        header_bytes, tensors = plan["file_size"] - plan["bytes"], [tensor["bytes"] for tensor in plan["tensors"]]
        sizes[f"m-{plan['type']}"] = [header_bytes + tensors[0], *tensors[1:], 0]
    shutil.rmtree(out)
    chance = random.Random(options.seed)
    kills = again = written = allowed = passes = 0
    while kills < options.kills:
        was_killed, bytes_here = run_until([*command, "--resume"], chance.uniform(0, needed / 5))
        written += bytes_here
        if was_killed:
            kills += 1
            done = finished(out) if out.is_dir() else {}
            allowed += OTHER_BYTES + sum(size[done.get(name, 0)] for name, size in sizes.items())  # what was in work
            if kills < options.kills:
                continue
            _, bytes_here = run_until([*command, "--resume"], 1e9)
            written += bytes_here
        assert {path.name: digest(path) for path in out.iterdir()} == digests, "other files, or more, after kills"
        shutil.rmtree(out)
        passes += 1
        again += written - whole
        written = 0
    print(f"{model.stat().st_size:,} bytes, {len(TYPES)} types: {kills} kills in {passes} passes; {again:,} bytes made "
          f"twice, {allowed:,} were in work (seed {options.seed})")
    assert again <= allowed, "more than the tensors in work was made twice"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--params", default="1B")
    parser.add_argument("--max-memory", default="256M")
    parser.add_argument("--share", type=float, default=0.55)
    parser.add_argument("--killed-params", default="60M")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--folder", help="where there is room for ten times the model")
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory(prefix="many_at_once.", dir=options.folder) as name:
        folder = pathlib.Path(name)
        model = folder / "m-F16.gguf"
        for params, work in ((options.params, compare_passes), (options.killed_params, kill_passes)):
            if params == "0":
                continue
            subprocess.run([program, "sample", model, "--params", params, "-q", "--force"], check=True)
            work(program, model, folder, options)


if __name__ == "__main__":
    main()
