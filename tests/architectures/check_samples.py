#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_samples.py PROGRAM [NAME...]: the sample of every architecture that is described.

Of clip there is one for each type of projector. Each is made in a second and small, check finds nothing in it, fit tells its memory, and three
recipes quantize it.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Sanitizers see the work of other recipes in their own tests.
RECIPES = ("Q8_0",) if os.environ.get("INGOT_INSTRUMENTED", "0") != "0" else ("Q8_0", "Q4_K_M", "IQ4_XS")
# Their convolutions have rows of 2 to 9 numbers, which are no blocks of Q8_0; the engine refuses them, too.
NOT_QUANTIZED = {name: ("Q8_0",) for name in (
    "wavtokenizer-dec", "clip:adapter", "clip:gemma3nv", "clip:gemma4a", "clip:glma", "clip:granite_speech", "clip:hunyuanvl", "clip:ldpv2", "clip:lfm2a", "clip:meralion",
    "clip:mimo_audio", "clip:musicflamingo", "clip:parakeet", "clip:qwen2.5o", "clip:qwen2a", "clip:qwen3a", "clip:step3vl", "clip:ultravox", "clip:voxtral")}
MOST_BYTES = 32 << 20
MOST_SECONDS = 20  # of a machine that does much else; usually a tenth of a second


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def faults_of(program, name, folder):
    path = folder / f"{name}.gguf"
    start = time.monotonic()
    architecture, _, projector = name.partition(":")
    options = ["--projector", projector] if projector else []
    status, _, message = run(program, "sample", "--architecture", architecture, *options, path)
    if status:
        return [f"sample: {message}"]
    faults = []
    if time.monotonic() - start > MOST_SECONDS:
        faults.append("sample: too slow")
    if path.stat().st_size > MOST_BYTES:
        faults.append(f"sample: {path.stat().st_size} bytes")
    status, out, message = run(program, "check", "--data", "--json", path)
    findings = [f"{finding['rule']}: {finding['message']}"
                for line in [json.loads(out or "{}")] for finding in findings_in(line)]
    if status or findings:
        faults.append(f"check: {status} {findings[:3]} {message}")
    status, _, message = run(program, "fit", path)
    if status and architecture != "clip":  # which is loaded beside a model
        faults.append(f"fit: {status} {message}")
    for recipe in sorted(set(RECIPES) - set(NOT_QUANTIZED.get(name, ()))):
        status, _, message = run(program, "quantize", path, folder / f"{name}.out.gguf", recipe,
                                 "--force", "-q")
        if status:
            faults.append(f"quantize {recipe}: {message}")
    for made in folder.glob(f"{name}.*gguf"):
        made.unlink()
    return faults


def findings_in(document):
    if isinstance(document, dict):
        if "findings" in document:
            return document["findings"]
        return [finding for value in document.values() for finding in findings_in(value)]
    if isinstance(document, list):
        return [finding for value in document for finding in findings_in(value)]
    return []


def main():
    program, *wanted = sys.argv[1:]
    _, out, _ = run(program, "architectures", "--json")
    names = wanted or [row["name"] for row in json.loads(out) if row["sample"]]
    if not wanted:
        _, out, _ = run(program, "architectures", "clip", "--json")
        names += [f"clip:{projector}" for projector in json.loads(out)["variants"]]
    wrong = 0
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        work = pool.map(lambda name: faults_of(program, name, pathlib.Path(folder)), names)
        for name, faults in zip(names, work):
            wrong += bool(faults)
            for fault in faults:
                print(f"{name}: {fault.strip()}")
    print(f"{len(names)} samples, {wrong} with faults")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
