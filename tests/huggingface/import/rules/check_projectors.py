#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_projectors.py PROGRAM: imports the projectors of tiny folders (projector_cases.py) in three types, and compares
all keys and bytes with a second reading; `ingot check` finds nothing in them. Exit 77 (skipped) without NumPy."""
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

from check_rules import FILE_TYPES, as_stored, compared_keys, difference, padded
from gguf_file import Gguf
from projector_cases import CASES
from rule_folders import safetensors
from rule_tensors import encoded


def write(case, folder):
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(case.config))
    (folder / "model.safetensors").write_bytes(safetensors(case.folder))
    if case.preprocessor:
        (folder / "preprocessor_config.json").write_text(json.dumps(case.preprocessor))


def expected_type(name, numbers, kind, asked):
    if numbers.ndim < 2 or name.endswith("_norm.weight"):
        return "F32"
    if kind == "patches":
        return "F16" if asked == "F16" else "F32"
    return kind or (asked if name.endswith(".weight") else "F32")


def expected(case, asked, as_reference=False):
    keys = {"general.architecture": ("str", "clip"), "general.type": ("str", "mmproj"),
            "general.file_type": ("u32", FILE_TYPES[asked])}
    keys.update({f"clip.{name}": (kind, value) for name, kind, value in case.keys})
    keys["general.quantization_version"] = ("u32", 2)
    tensors = []
    for _, name, numbers, kind in sorted(case.expected, key=lambda one: one[0].encode()):
        if as_reference:
            numbers = case.of_reference.get(name, numbers)
        stored = expected_type(name, numbers, kind, asked)
        tensors.append((name, stored, list(numbers.shape[::-1]), encoded(np.ascontiguousarray(numbers), stored)))
    return {name: as_stored(*value) for name, value in keys.items()}, tensors


def check(program, case, asked, as_reference, path):
    out = path / "out.gguf"
    convert = ["convert", str(path / "tiny"), str(out), "--mmproj", "--type", asked.lower(), "-q", "-j", "1", "--force"]
    for command in ([convert + ["--as-reference"]] if as_reference else [convert, ["check", str(out)]]):
        done = subprocess.run([program, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{command[0]}: {(done.stdout + done.stderr).strip()[:300]}"
    actual, (keys, tensors) = Gguf(out.read_bytes()), expected(case, asked, as_reference)
    return difference(compared_keys(actual.keys), list(keys.items()), "key") or \
        difference(padded(actual.tensors), padded(tensors), "tensor")


def main(program):
    faults = 0
    for make in CASES:
        case = make()
        with tempfile.TemporaryDirectory() as path:
            write(case, pathlib.Path(path) / "tiny")
            for asked, as_reference in (("F32", False), ("F16", False), ("BF16", False), ("F16", True)):
                fault = check(program, case, asked, as_reference, pathlib.Path(path))
                faults += fault is not None
                if fault:
                    print(f"{case.name}, {asked}: {fault}")
    print(f"{len(CASES)} classes, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
