#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_exact.py PROGRAM [--variants N] [--first N] [--format NAME]

Makes small folders of each format of quantized weights, odd on purpose, imports them with --type
exact, and compares what the result decodes to with what the folder stands for, number for number.
Both readers are made of the formats' formulas alone. Without a type, folders of integers get a remark.
Folders with one fault are refused, with the name of the tensor.
Exit 77 (skipped) without NumPy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from quantized_folders import FORMATS, FP4, Folder, e4m3, from_bf16
from rules.gguf_file import Gguf

BLOCK_BYTES = {"Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34, "MXFP4": 17, "NVFP4": 36}
FILE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 8, "Q5_1": 9, "Q8_0": 7, "BF16": 32,
              "MXFP4": 38, "NVFP4": 39}


# The result

def decode(kind, raw):
    """Blocks or numbers of a GGUF file, by the formulas of docs/tensor-types.md."""
    if kind == "F32":
        return raw.view(np.float32)
    if kind == "F16":
        return raw.view(np.float16).astype(np.float32)
    if kind == "BF16":
        return from_bf16(raw.view(np.uint16))
    blocks = raw.reshape(-1, BLOCK_BYTES[kind])
    if kind == "MXFP4":
        scale = np.float32(2.0) ** (blocks[:, :1].astype(np.float32) - 127)
        return (FP4[np.concatenate([blocks[:, 1:] & 15, blocks[:, 1:] >> 4], 1)] * scale).reshape(-1)
    if kind == "NVFP4":
        codes = blocks[:, 4:].reshape(-1, 4, 8)
        scale = e4m3()[blocks[:, :4]][..., None]
        return (FP4[np.concatenate([codes & 15, codes >> 4], 2)] * scale).reshape(-1)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    if kind == "Q8_0":
        return (blocks[:, 2:].view(np.int8).astype(np.float32) * scale).reshape(-1)
    at = 4 if kind.endswith("_1") else 2
    codes = np.concatenate([blocks[:, -16:] & 15, blocks[:, -16:] >> 4], 1).astype(np.int32)
    if kind.startswith("Q5"):
        high = blocks[:, at:at + 4].copy().view("<u4")
        codes |= ((high >> np.arange(32, dtype=np.uint32)) & 1).astype(np.int32) << 4
    if at == 2:
        return ((codes - (16 if kind == "Q5_0" else 8)).astype(np.float32) * scale).reshape(-1)
    minimum = blocks[:, 2:4].copy().view(np.float16).astype(np.float32)
    return (codes.astype(np.float32) * scale + minimum).reshape(-1)


def read_result(path):
    """general.file_type, and tensors as name -> (type, numbers with the rows first)."""
    file = Gguf(path.read_bytes())
    tensors = {}
    for name, kind, dims, data in file.tensors:
        count = int(np.prod(dims))
        size = count // (64 if kind == "NVFP4" else 32) * BLOCK_BYTES[kind] if kind in BLOCK_BYTES \
            else count * (4 if kind == "F32" else 2)
        tensors[name] = kind, decode(kind, np.frombuffer(data, np.uint8, size)).reshape(dims[::-1])
    return file.keys["general.file_type"][1], tensors


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check(program, folder, path):
    """A fault, or None."""
    source, out = path / "model", path / "out.gguf"
    source.mkdir()
    folder.write(source)
    command = [program, "convert", source, out, "--type", "exact", "--pre", "gpt-2"]
    code, text, errors = run(*command, "--plan", "--json")
    if code != 0 or out.exists():
        return f"the plan ends with {code}: {errors}"
    planned = {one["name"]: one for one in json.loads(text)["tensors"]}
    _, _, errors = run(program, "convert", source, "--plan", "--pre", "gpt-2")
    if ("--type exact" in errors) != folder.has_codes:
        return f"without a type it says {errors!r}"
    code, _, errors = run(*command, "-q")
    if code != 0:
        return f"it ends with {code}: {errors}"
    file_type, tensors = read_result(out)
    if set(tensors) != set(folder.expected) or set(planned) != set(folder.expected):
        return f"tensors are {sorted(tensors)}"
    elements = {}
    for name, (numbers, wanted) in folder.expected.items():
        kind, decoded = tensors[name]
        plan = planned[name]
        if plan["type"] != kind or plan["exact"] is not True or plan["max_error"] != 0:
            return f"{name} is {kind}, and planned as {plan}"
        smaller = {"Q5_0": ("Q4_0", "Q4_1"), "Q4_1": ("Q4_0",), "Q5_1": ("Q4_0", "Q4_1", "Q5_0")}
        if kind not in (wanted or kind, *smaller.get(wanted, ())):
            return f"{name} is {kind}, not {wanted}"
        if decoded.shape != numbers.shape:
            return f"{name} has the shape {decoded.shape}, not {numbers.shape}"
        differing = np.count_nonzero(decoded.view(np.uint32) !=
                                     np.ascontiguousarray(numbers, np.float32).view(np.uint32))
        if differing:
            return f"{name}, {kind}: {differing} of {numbers.size} numbers differ"
        elements[kind] = elements.get(kind, 0) + numbers.size
    if file_type != FILE_TYPES[max(elements, key=elements.get)]:
        return f"general.file_type is {file_type}, of {elements}"
    return None


def shorten(folder, name):
    kind, array = folder.tensors[name]
    folder.tensors[name] = kind, array[:-1]


def scramble(folder, name):
    folder.tensors[name] = "U8", np.frombuffer(b"not {json", np.uint8)


def retype(folder, name):
    folder.tensors[name] = "I64", folder.tensors[name][1].astype(np.int64)


def lose(folder, name):
    del folder.tensors[name]


# A format, the suffix of a tensor with a fault, and the fault.
FAULTS = [
    ("gptq", ".scales", shorten), ("gptq", ".g_idx", shorten), ("gptq", ".qzeros", lose),
    ("awq", ".scales", shorten), ("awq", ".qzeros", shorten), ("awq", ".qzeros", lose),
    ("awq", ".qweight", retype), ("awq", ".scales", retype),
    ("packed", ".weight_scale", shorten),
    ("mlx", ".scales", shorten), ("mlx", ".biases", shorten), ("mlx", ".scales", retype),
    ("mlx_experts", ".scales", shorten), ("mlx_floats", ".scales", shorten),
    ("bitsandbytes", ".weight.absmax", shorten), ("bitsandbytes", ".weight.absmax", lose),
    ("bitsandbytes", ".weight.absmax", retype), ("bitsandbytes", ".weight.quant_map", shorten),
    ("bitsandbytes", ".weight.quant_state", scramble), ("bitsandbytes", ".weight", shorten),
    ("llm_int8", ".SCB", shorten), ("llm_int8", ".SCB", retype),
]


def check_fault(program, kind, suffix, harm, variant, path):
    folder = Folder(kind, variant)
    name = next(one for one in folder.tensors if suffix + ".bits" in one or one.endswith(suffix))
    harm(folder, name)
    source, out = path / "model", path / "out.gguf"
    source.mkdir()
    folder.write(source)
    code, _, errors = run(program, "convert", source, out, "--type", "f16", "--pre", "gpt-2")
    base = name.split(suffix)[0]
    if code == 3 and base in errors and not out.exists():
        return None
    return f"{harm.__name__} of {name}: it ends with {code}: {errors}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--format", choices=FORMATS)
    options = parser.parse_args()
    faults = count = 0
    for name in FORMATS:
        if options.format not in (None, name):
            continue
        for variant in range(options.first, options.first + options.variants):
            with tempfile.TemporaryDirectory() as path:
                fault = check(options.program, Folder(name, variant), pathlib.Path(path))
            count += 1
            if fault:
                faults += 1
                print(f"{name}, variant {variant}: {fault}")
    for kind, suffix, harm in FAULTS:
        if options.format not in (None, kind):
            continue
        with tempfile.TemporaryDirectory() as path:
            fault = check_fault(options.program, kind, suffix, harm, count, pathlib.Path(path))
        count += 1
        if fault:
            faults += 1
            print(f"{kind}, {fault}")
    print(f"{count} folders, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
