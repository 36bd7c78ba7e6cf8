#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""engine.py WRITE_LOGITS PROGRAM: the forward pass beside that of llama.cpp.

Compares the logits of tiny models of all architectures, which WRITE_LOGITS computes, with those of
an engine that bench/install_ggml installs; then, where $INGOT_SHARED has a trained model, the
perplexity that PROGRAM states of it and of quantized copies with the engine's. Without the engine
it skips (77). $INGOT_GGML_CPU names one of the engine's variants ("x64") instead of the best.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from llama_engine import ROOT, Engine, EngineMissing, EngineModel

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
CHUNK = 40
LIMIT = 1e-4  # of the largest logit of a token
# The engine takes GELU from a table of binary16.
GELU_LIMIT = 2e-3
PERPLEXITY_LIMIT = 2e-3
TRAINED_CHUNK = 128
TRAINED_CHUNKS = 64


def engine_logits(engine, path, ids):
    model = EngineModel(engine, path, CHUNK)
    rows = [np.array(model.decode(chunk)) for chunk in model.chunks(ids)]
    model.close()
    return np.concatenate(rows).reshape(len(ids), -1)


def largest_error(found, expected):
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


def compare_logits(engine, write_logits):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_logits, folder], check=True)
        folder = pathlib.Path(folder)
        ids = [int(line) for line in (folder / "ids").read_text().split()]
        paths = sorted(folder.glob("*.gguf"))
        assert len(paths) >= 13, "too few architectures"
        for path in paths:
            try:
                expected = engine_logits(engine, path, ids)
            except RuntimeError as error:
                print(f"{path.stem:20} {error}  WRONG")
                failed = True
                continue
            found = np.fromfile(path.with_suffix(".logits"), "<f4").reshape(expected.shape)
            error = largest_error(found, expected)
            is_right = error <= (GELU_LIMIT if path.stem.startswith("gemma") else LIMIT)
            print(f"{path.stem:20} largest difference {error:.1e}{'' if is_right else '  WRONG'}")
            failed |= not is_right
    return failed


def engine_perplexity(engine, path, text):
    """Of the second half of each chunk, as ours."""
    model = EngineModel(engine, path, TRAINED_CHUNK)
    losses = []
    first = TRAINED_CHUNK // 2
    for number, chunk in enumerate(model.chunks(model.tokenize(text))):
        if number == TRAINED_CHUNKS:
            break
        logits = np.array(model.decode(chunk, first), dtype=np.float64)
        logits = logits.reshape(TRAINED_CHUNK - first, -1)[:-1]
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        losses.append(-logits[np.arange(len(logits)), chunk[first + 1:]].mean())
    model.close()
    return math.exp(np.mean(losses))


def compare_perplexities(engine, program):
    base = SHARED / "golden" / "eval" / "tiny-bytes-f32.gguf"
    text = base.with_name("tiny-bytes-heldout.txt")
    if not base.is_file():
        print(f"no perplexities: there is no {base}")
        return False
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        paths = [base]
        for name in ("Q8_0", "Q4_K"):
            paths.append(pathlib.Path(folder) / f"{name}.gguf")
            subprocess.run([program, "quantize", base, paths[-1], name], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in paths:
            answer = subprocess.run(
                [program, "evaluate", path, "--text", text, "--ctx-size", str(TRAINED_CHUNK),
                 "--chunks", str(TRAINED_CHUNKS), "--json"], check=True, stdout=subprocess.PIPE)
            found = json.loads(answer.stdout)["base"]["perplexity"]
            expected = engine_perplexity(engine, path, text.read_bytes())
            is_right = abs(found / expected - 1) <= PERPLEXITY_LIMIT
            print(f"{path.stem:20} perplexity {found:.4f}, of the engine {expected:.4f}: "
                  f"{found / expected - 1:+.3%}{'' if is_right else '  WRONG'}")
            failed |= not is_right
    return failed


def main():
    write_logits, program = sys.argv[1:3]
    try:
        engine = Engine(os.environ.get("INGOT_GGML_CPU"))
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    failed = compare_logits(engine, write_logits)
    return failed | compare_perplexities(engine, program)


if __name__ == "__main__":
    sys.exit(main())
