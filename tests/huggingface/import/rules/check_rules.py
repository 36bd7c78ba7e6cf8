#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_rules.py PROGRAM [--variants N] [--entry NAME] [--first N] [--later]

Imports tiny folders of every entry of golden/hf/architectures.json, or with --later of those of golden/hf2
that are read a second time (rule_later.py), and compares keys, tensors and bytes with what the reading gives. A variant of an entry has one of its classes,
other names of config.json and of tensors, other numbers and another type. Exit 77 (skipped) without
NumPy or the data, which is found through INGOT_SHARED.
"""
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from gguf_file import Gguf
from rule_config import Keys, Refused
from rule_later import load, reading
from rule_tensors import encoded
from rule_tokens import tokenizer_keys
from rule_trials import run_trials

FILE_TYPES = {"F32": 0, "F16": 1, "Q8_0": 7, "BF16": 32}
FP4_FILE_TYPE = 38


def as_stored(kind, value):
    if isinstance(value, list):
        return kind, [as_stored(kind[1:-1], one)[1] for one in value]
    return kind, float(np.float32(value)) if kind == "f32" else \
        bool(value) if kind == "bool" else int(value) if kind == "u32" else value


class Expected:
    """What a folder must become."""

    def __init__(self, data, folder):
        entry = folder.entry
        make_config, make_rules, make_tokens = reading(entry)
        self.kind = folder.type if folder.type != "auto" else folder.guessed_type(
            make_rules(data, entry, make_config(folder.config), 0))
        plain = make_config(folder.config)
        tokens, token_keys = tokenizer_keys(folder, entry["vocab"], plain, make_tokens)
        rules = make_rules(data, entry, plain, tokens)
        self.tensors = []
        for name, array, fixed in rules.outputs(folder.arrays()):
            dims = list(array.shape[::-1])
            if fixed:
                dims[:2] = [32 * dims[1]] if len(dims) > 3 else dims[:2]
            kind = fixed or rules.type_of(name, dims, self.kind)
            self.tensors.append((name, kind, dims, encoded(array, kind)))
        filled = {name.split(".")[1] for name, *_ in self.tensors if name.startswith("blk.") and ".nextn." not in name}
        if not filled.issuperset(map(str, range(plain.layers))):
            raise Refused("a layer has no tensors")
        has_fp4 = any(kind == "MXFP4" for _, kind, *_ in self.tensors)
        config = make_config(folder.config, FP4_FILE_TYPE if has_fp4 and self.kind != "Q8_0"
                             else FILE_TYPES[self.kind])
        keys = {"general.architecture": ("str", entry["arch"])}
        keys.update(Keys(data, entry, config, folder.files)
                    .add(entry.get("keys_during_tensors", [])))
        keys["general.type"] = ("str", "model")
        keys.update(Keys(data, entry, config, folder.files).add(entry["keys"]))
        keys["general.quantization_version"] = ("u32", 2)
        for name, value in token_keys.items():
            keys[name] = value
        keys.update(Keys(data, entry, config, folder.files).add(entry.get("keys_after_vocab", [])))
        self.keys = {name: as_stored(*value) for name, value in keys.items()}


def compared_keys(keys):
    kept = ("general.architecture", "general.type", "general.file_type",
            "general.quantization_version")
    return [(name, value) for name, value in keys.items()
            if not name.endswith(".nextn_predict_layers")
            if name in kept or not name.startswith("general.")]


def difference(actual, expected, what):
    for index in range(max(len(actual), len(expected))):
        left = actual[index] if index < len(actual) else None
        right = expected[index] if index < len(expected) else None
        if left != right:
            def cut(one):
                return str(one)[:300]
            return f"{what} {index}: {cut(left)}, expected {cut(right)}"
    return None


def padded(tensors):
    return [(name, kind, dims, data + bytes(-len(data) % 32)) for name, kind, dims, data in tensors]


def check(program, data, folder, path):
    """What is wrong with the import of a folder; None if nothing is."""
    folder.write(path)
    out = path / "out.gguf"
    command = [program, "convert", str(path / "tiny"), str(out), "--type", folder.type.lower(),
               "--pre", "gpt-2", "--as-reference", "-q", "-j", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        expected = Expected(data, folder)
    except Refused as refusal:
        return None if done.returncode not in (0, 139, 134) else f"not refused: {refusal}"
    if done.returncode != 0:
        return f"{done.stderr.strip()[:400]}"
    actual = Gguf(out.read_bytes())
    out.unlink()
    return difference(compared_keys(actual.keys), compared_keys(expected.keys), "key") or \
        difference(padded(actual.tensors), padded(expected.tensors), "tensor")


if __name__ == "__main__":
    sys.exit(run_trials(lambda *folder: (check(*folder), 1), "folders", 4, [load]))
