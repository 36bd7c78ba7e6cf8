#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_adapter_rules.py PROGRAM [--variants N] [--entry NAME] [--first N]

Imports tiny LoRA adapters for every entry of golden/hf/architectures.json. The product of the halves
must be what the transforms of the base make of the product in the folder. Exit 77 (skipped) without
NumPy or the data, which is found through INGOT_SHARED.
"""
import json
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from check_rules import Gguf
from rule_config import Config, Refused
from rule_folders import safetensors
from rule_tensors import TensorRules
from rule_trials import run_trials

RANK = 3
# The keys of latent attention are transposed by heads, which share one half.
NO_HALVES = "cannot be kept as two halves"


class Adapter:
    """An adapter of all matrices of a folder, and the products that it must become."""

    def __init__(self, data, folder):
        self.random = np.random.default_rng(folder.random.randrange(1 << 30))
        self.config = Config(folder.config)
        rules = TensorRules(data, folder.entry, self.config, folder.token_rows)
        self.halves, products = [], []
        for name, _, array in folder.tensors:
            if array.ndim != 2 or not name.endswith(".weight") or "_norm" in name or \
                    min(array.shape) <= RANK:
                continue
            known = rules.filtered(name)
            if known is None or rules.names.get(known.removesuffix(".weight")) == "token_embd":
                continue  # embeddings have halves of their own kind
            b = self.half((array.shape[0], RANK))
            a = self.half((RANK, array.shape[1]))
            base = "base_model.model." + name.removesuffix(".weight")
            self.halves += [(base + ".lora_A.weight", "F32", a), (base + ".lora_B.weight", "F32", b)]
            products.append((name, b @ a))
        products.sort(key=lambda one: one[0].encode())
        count = sum(1 for _ in rules.extra())
        self.expected = {name: array for name, array, _ in rules.outputs(products)[count:]}

    def half(self, shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def write(self, path):
        path.mkdir()
        (path / "adapter_config.json").write_text(json.dumps(
            {"peft_type": "LORA", "lora_alpha": 6, "r": RANK}))
        (path / "adapter_model.safetensors").write_bytes(safetensors(self.halves))


def products_of(path):
    halves = {name: np.frombuffer(data, "<f4", int(np.prod(dims))).reshape(dims[::-1])
              for name, _, dims, data in Gguf(path.read_bytes()).tensors}
    return {name.removesuffix(".lora_b"): half @ halves[name.replace(".lora_b", ".lora_a")]
            for name, half in halves.items() if name.endswith(".lora_b")}


def check(program, data, folder, path):
    """What is wrong, and how many products were compared."""
    folder.write(path)
    # Matrices of odd widths contradict it.
    base = {name: value for name, value in folder.config.items() if name != "hidden_size"}
    (path / "tiny/config.json").write_text(json.dumps(base))
    try:
        adapter = Adapter(data, folder)
    except Refused:
        return None, 0
    if not adapter.halves:
        return None, 0
    adapter.write(path / "adapter")
    out = path / "out.gguf"
    done = subprocess.run([program, "convert", str(path / "adapter"), str(out), "--base",
                           str(path / "tiny"), "--type", "f32", "--pre", "gpt-2",
                           "--as-reference", "-q"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 and NO_HALVES in done.stderr and "k_b_proj" in done.stderr:
        return None, 0
    if done.returncode != 0:
        return done.stderr.strip()[:300], 0
    actual = products_of(out)
    if set(actual) != set(adapter.expected):
        return f"{sorted(set(actual) ^ set(adapter.expected))[:4]} differ", 0
    for name, product in adapter.expected.items():
        if actual[name].shape != product.shape:
            return f"{name} is {actual[name].shape}, expected {product.shape}", 0
        if not np.allclose(actual[name], product, atol=1e-4):
            return f"{name} is another product", 0
    return None, len(actual)


if __name__ == "__main__":
    sys.exit(run_trials(check, "products", 3))
