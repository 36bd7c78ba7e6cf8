#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""compare_oracles.py CODE_BLOCKS [--types NAME...] [--cpus NAME...] [--fast]

Compares decoders and quantizers with the slow oracles of the specification, on many kinds of data:
byte for byte, for the reference and every CPU target. Exit 77 (skipped) without the oracles, which
are found through INGOT_SHARED; in CI (CI=true) they must be there.
"""
import argparse
import functools
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

REQUIRED = {"IQ1_S", "IQ2_XXS", "IQ2_XS"}
WEIGHTED = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS",
            "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"}
# The oracle adds up in the order of older sources of ggml, which decides among equal cuts;
# golden_test.cpp has a digest of the newer one.
NEWER = {"IQ1_M"}
# Elements to try: what the oracle does in a few seconds.
SLOW = {"IQ1_S": 512, "IQ1_M": 512, "IQ2_XXS": 1024, "IQ2_XS": 1024, "IQ2_S": 1024, "IQ3_XXS": 1024,
        "IQ3_S": 1024}


def kinds(count, rng):
    """name, floats: what quantizers meet in models, and what they do not."""
    f32 = np.float32
    normal = rng.standard_normal(count).astype(f32)
    yield "normal", normal * f32(0.02)
    yield "heavy tails", rng.standard_t(3, count).astype(f32)
    yield "wide range", (normal * np.exp2(rng.integers(-20, 20, count))).astype(f32)
    yield "ties", (rng.integers(-16, 17, count) / 2).astype(f32)
    zeros = np.where(rng.random(count) < 0.5, f32(-0.0), f32(0.0)).astype(f32)
    yield "zeros", zeros
    yield "sparse", np.where(rng.random(count) < 0.95, zeros, normal).astype(f32)
    yield "constant", np.repeat(rng.standard_normal((count + 255) // 256).astype(f32), 256)[:count]
    yield "ternary", rng.integers(-1, 2, count).astype(f32) * f32(0.7)
    yield "powers of two", np.ldexp(f32(1) - rng.integers(0, 4, count).astype(f32) * f32(2**-24),
                                    rng.integers(-12, 13, count)).astype(f32)
    yield "tiny", (normal * f32(1e-12)).astype(f32)
    yield "positive", np.abs(normal)


def extremes(count, rng):
    """Where some quantizers divide by zero; only for those that are defined there."""
    normal = rng.standard_normal(count).astype(np.float32)
    yield "denormals", (normal * np.float32(1e-40)).astype(np.float32)
    yield "huge", (normal * np.float32(1e36)).astype(np.float32)


# The reference divides by a vanishing scale here, with an undefined result.
UNDEFINED_DENORMALS = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q8_K", "Q2_0", "TQ1_0", "TQ2_0"}


class FirstGreatest(np.ndarray):
    """max() gives the first of equals, so of zeros with either sign, as comparing one after the other
    does; numpy gives any of them."""

    def max(self, axis=None):
        values = np.asarray(self)
        return np.take_along_axis(values, values.argmax(axis)[:, None], axis)[:, 0]


def run(program, words, data):
    return subprocess.run([program, *words], input=data, stdout=subprocess.PIPE, check=True).stdout


def first_difference(expected, actual, block_bytes):
    if len(expected) != len(actual):
        return f"{len(actual)} bytes instead of {len(expected)}"
    a, b = np.frombuffer(expected, np.uint8), np.frombuffer(actual, np.uint8)
    where = np.nonzero(a != b)[0]
    if not len(where):
        return None
    blocks = len(set(where // block_bytes))
    i = int(where[0])
    return (f"{blocks} of {len(a) // block_bytes} blocks differ, first in block {i // block_bytes}, "
            f"byte {i % block_bytes}: {b[i]} instead of {a[i]}")


oracles = ()  # decode, simple, every: the modules of the specification


def compare(program, cpus, fast, name):
    """The differences of a type, one line each."""
    decode, simple, every = oracles
    differences = []

    def report(what, difference):
        if difference:
            differences.append(f"{what}: {difference}")

    number, block_elements, block_bytes = decode.TYPES[name]
    rng = np.random.default_rng(20260821 + number)
    if name in decode.FN:
        blocks = rng.integers(0, 256, 64 * block_bytes, dtype=np.uint8).tobytes()
        expected = decode.decode(name, blocks)
        for cpu in cpus:
            actual = np.frombuffer(run(program, ["decode", name, cpu], blocks), np.float32)
            same = (expected.view(np.uint32) == actual.view(np.uint32)) | (
                np.isnan(expected) & np.isnan(actual))
            report(f"decode {name} {cpu}", None if same.all() else
                   f"{np.count_nonzero(~same)} floats differ, first {np.argmin(same)}")
    is_modelled = name in every.VEC or name in every.ONE or name in simple.FN
    if name in NEWER or not is_modelled:
        return differences
    count = SLOW.get(name, 8192)
    if fast:
        count = min(count, 2048)
    row = count // 2 // block_elements * block_elements
    cases = [(kind, floats, None) for kind, floats in kinds(count, rng)]
    cases += [(kind, floats, None) for kind, floats in extremes(count, rng)
              if not (kind == "denormals" and name in UNDEFINED_DENORMALS)]
    if name in WEIGHTED:
        for kind, floats in list(kinds(count, rng)) + list(extremes(count, rng)):
            weights = (rng.standard_normal(row) ** 2 + 0.01).astype(np.float32)
            cases.append((kind + ", weights", floats, weights))
    for kind, floats, weights in cases:
        if weights is None and name in REQUIRED:
            weights = np.ones(row, np.float32)
        floats = floats[:2 * row]
        if name in simple.FN and (weights is None or name == "IQ4_NL"):
            expected = simple.quantize(name, floats, weights)
        else:
            expected = every.quantize(name, floats, row, weights)
        with tempfile.NamedTemporaryFile() as file:
            words = [str(row)]
            if weights is not None:
                file.write(weights.tobytes())
                file.flush()
                words.append(file.name)
            for cpu in cpus:
                actual = run(program, ["encode", name, cpu, *words], floats.tobytes())
                report(f"encode {name} {cpu} {kind}",
                       first_difference(expected, actual, block_bytes))
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--types", nargs="+")
    parser.add_argument("--cpus", nargs="+")
    parser.add_argument("--fast", action="store_true", help="fewer elements")
    arguments = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    shared = pathlib.Path(os.environ.get("INGOT_SHARED", source.parent / "shared"))
    oracle = shared / "spec" / "oracle"
    if not oracle.is_dir():
        print(f"there is no {oracle}; set INGOT_SHARED")
        return 1 if os.environ.get("CI") == "true" else 77
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(oracle))
    import decode_from_spec
    import quantize_all_from_spec
    import quantize_simple_from_spec
    for name in ("Q4_1", "Q5_1"):
        quantize = quantize_simple_from_spec.FN[name]
        quantize_simple_from_spec.FN[name] = lambda x, q=quantize: q(x.view(FirstGreatest))
    global oracles
    oracles = decode_from_spec, quantize_simple_from_spec, quantize_all_from_spec
    cpus = arguments.cpus or ["reference", *run(arguments.program, ["cpus"], b"").decode().split()]
    names = arguments.types or [name for name in decode_from_spec.TYPES
                                if name in decode_from_spec.FN or name == "Q8_1"]
    with multiprocessing.get_context("fork").Pool() as workers:
        of_type = functools.partial(compare, arguments.program, cpus, arguments.fast)
        differences = sum(workers.map(of_type, names, chunksize=1), [])
    print(*differences, sep="\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
