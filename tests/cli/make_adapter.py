#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_adapter.py FOLDER: writes a tiny Llama FOLDER/base/Tiny, a LoRA adapter for it
FOLDER/my-adapter, and what PEFT would merge them to, in F32: FOLDER/merged/Tiny. All numbers are
so short that no sum is rounded."""
import json
import pathlib
import struct
import sys

import make_model_folder

RANK, ALPHA = 4, 8
TARGETS = ("self_attn.q_proj", "self_attn.k_proj", "mlp.down_proj")


def read(data):
    """Tensors of a safetensors file in BF16: name to (shape, numbers)."""
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        halves = struct.unpack(f"<{(end - begin) // 2}H", data[begin:end])
        floats = struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I",
                                                               *(half << 16 for half in halves)))
        tensors[name] = (entry["shape"], list(floats))
    return tensors


def write(tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        begin = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def halves(shape, seed):
    rows, columns = shape
    a = [((i * 7 + seed) % 5 - 2) / 4 for i in range(RANK * columns)]
    b = [((i * 3 + seed) % 7 - 3) / 8 for i in range(rows * RANK)]
    return a, b


def main(folder):
    base = read(make_model_folder.safetensors(make_model_folder.tensors()))
    adapter, merged = {}, dict(base)
    for seed, (name, (shape, numbers)) in enumerate(base.items()):
        stem = name[:-len(".weight")]
        if not stem.endswith(TARGETS):
            continue
        a, b = halves(shape, seed)
        adapter[f"base_model.model.{stem}.lora_A.weight"] = ([RANK, shape[1]], a)
        adapter[f"base_model.model.{stem}.lora_B.weight"] = ([shape[0], RANK], b)
        merged[name] = (shape, [
            weight + ALPHA / RANK * sum(b[at // shape[1] * RANK + k] * a[k * shape[1] + at % shape[1]]
                                        for k in range(RANK))
            for at, weight in enumerate(numbers)])
    make_model_folder.write(folder / "base" / "Tiny")
    make_model_folder.write(folder / "merged" / "Tiny", **{"model.safetensors": write(merged)})
    (folder / "my-adapter").mkdir()
    (folder / "my-adapter" / "adapter_model.safetensors").write_bytes(write(adapter))
    (folder / "my-adapter" / "adapter_config.json").write_text(json.dumps(
        {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "base_model_name_or_path": "org/Tiny"}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
