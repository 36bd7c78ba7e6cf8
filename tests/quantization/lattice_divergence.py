#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""lattice_divergence.py PROGRAM [CHUNKS]: what a second rounding costs a model that was quantized before.

Rounds the matrices of the trained model in golden/eval of $INGOT_SHARED to lattices, as training for
int4 and its like do, and quantizes the result by PROGRAM with --effort auto and as the reference does.
Prints the divergence of both from the rounded model, which has to be 0 where the type holds its
lattice. Skips (77) without NumPy or the model.
"""
import json
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = pathlib.Path(os.environ.get("INGOT_SHARED") or
                     ROOT.parent / "shared") / "golden/eval/tiny-bytes-f32.gguf"
EXACT = 1e-6  # nats per token
# What is rounded to: the lowest integer, weights with one scale, the type of scales, and whether there
# is a minimum; the types to quantize to, those that hold the lattice first, after the others "/".
LATTICES = [
    ((-7, 32, "f16", False), "Q4_0 Q5_0 Q8_0 / Q4_K Q6_K"),
    ((-7, 32, "f32", False), "/ Q4_0 Q4_K"),
    ((-8, 128, "f16", False), "Q4_0 Q4_1 / Q4_K"),
    ((-8, 256, "f16", False), "Q4_0 Q4_K Q5_K /"),
    ((0, 32, "f16", True), "Q4_1 Q5_1 / Q4_K Q5_K"),
]


def as_half(numbers, kind):
    return numbers.astype(np.float16).astype(np.float32) if kind == "f16" else numbers


def rounded(weights, lowest, group, scale_kind, has_minimum):
    """Each group's largest weight, or range, takes the 15 or 16 steps of 4 bits."""
    groups = weights.reshape(-1, group)
    minimum = np.float32(0)
    if has_minimum:
        minimum = as_half(groups.min(1, keepdims=True), scale_kind)
        scale = as_half((groups.max(1, keepdims=True) - minimum) / 15, scale_kind)
    else:
        extreme = np.take_along_axis(groups, np.abs(groups).argmax(1)[:, None], 1)
        scale = as_half(np.abs(extreme) / 7 if lowest == -7 else extreme / -8, scale_kind)
    highest = 15 if has_minimum else 7
    codes = np.clip(np.round((groups - minimum) / scale), lowest, highest).astype(np.float32)
    return codes * scale + minimum


def make_base(program, path, lattice):
    """A copy of the model whose blocks' matrices are rounded."""
    tensors = json.loads(subprocess.run([program, "tensors", MODEL, "--json"], check=True,
                                        stdout=subprocess.PIPE).stdout)
    data = bytearray(MODEL.read_bytes())
    for tensor in tensors:
        if not tensor["name"].startswith("blk.") or len(tensor["shape"]) < 2:
            continue
        weights = np.frombuffer(data, "<f4", tensor["elements"], tensor["file_offset"])
        numbers = rounded(weights, *lattice).astype("<f4").tobytes()
        data[tensor["file_offset"]:tensor["file_offset"] + len(numbers)] = numbers
    path.write_bytes(data)


def divergences(program, folder, lattice, types, chunks):
    """Of each type: by --effort auto, and by the reference."""
    base = folder / "base.gguf"
    make_base(program, base, lattice)
    paths = []
    for kind in types:
        for effort in ("auto", "reference"):
            paths.append(folder / f"{kind}-{effort}.gguf")
            subprocess.run([program, "quantize", base, paths[-1], kind, "--pure", "--effort", effort, "-q",
                            "--token-embedding-type", "F32", "--output-tensor-type", "F32", "--force"],
                           check=True)
    answer = subprocess.run([program, "evaluate", base, *paths, "--ctx-size", "128", "--chunks", chunks,
                             "--text", MODEL.with_name("tiny-bytes-heldout.txt"), "--json"],
                            check=True, stdout=subprocess.PIPE).stdout
    found = [other["kl"] for other in json.loads(answer)["others"]]
    return list(zip(found[::2], found[1::2]))


def main():
    program, chunks = pathlib.Path(sys.argv[1]).resolve(), (sys.argv[2:] or ["8"])[0]
    if not MODEL.is_file():
        print(f"skipped: there is no {MODEL}")
        return 77
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        for lattice, text in LATTICES:
            exact, other = (part.split() for part in text.split("/"))
            found = divergences(program, pathlib.Path(name), lattice, exact + other, chunks)
            for kind, (own, reference) in zip(exact + other, found):
                is_right = own <= EXACT if kind in exact else own < reference / 3
                faults += not is_right
                lowest, group, scale_kind, has_minimum = lattice
                print(f"{lowest:3} to {lowest + 15 - (lowest == -7):2}{' and minimums' if has_minimum else '':13} "
                      f"groups of {group:3}, scales {scale_kind}: {kind:5} {own:.2e}, of the reference {reference:.2e}"
                      f"{'' if is_right else '  WRONG'}", flush=True)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
