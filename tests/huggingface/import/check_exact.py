#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_exact.py PROGRAM [--variants N] [--first N] [--format NAME]

Makes small folders of each format of quantized weights, odd on purpose, imports them with --type
exact, and compares what the result decodes to with what the folder stands for, bit for bit. Both
readers are made of the formats' formulas alone. Without a type, folders of integers get a remark.
Exit 77 (skipped) without NumPy.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from rules.gguf_file import Gguf

BLOCK_BYTES = {"Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34}
FILE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 8, "Q5_1": 9, "Q8_0": 7, "BF16": 32}


def from_bf16(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32)


def to_bf16(numbers):
    """Cut, not rounded: the numbers of these tests only need to be ones that BF16 has."""
    return (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


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
        size = count // 32 * BLOCK_BYTES[kind] if kind in BLOCK_BYTES else \
            count * (4 if kind == "F32" else 2)
        tensors[name] = kind, decode(kind, np.frombuffer(data, np.uint8, size)).reshape(dims[::-1])
    return file.keys["general.file_type"][1], tensors


# The formats of folders. A function makes the tensors of a weight: their suffixes with type and
# numbers, what they stand for, and the type that the result must have, None if the values decide.

def pack(codes, bits):
    """Codes of the last axis into words, the lowest bits first; the last word may be filled up."""
    per_word = 32 // bits
    filled = np.zeros((*codes.shape[:-1], -(-codes.shape[-1] // per_word) * per_word), np.uint32)
    filled[..., :codes.shape[-1]] = codes
    shifts = np.arange(per_word, dtype=np.uint32) * np.uint32(bits)
    parts = filled.reshape(*codes.shape[:-1], -1, per_word) << shifts
    return np.bitwise_or.reduce(parts, -1)


def spread(groups, columns):
    """One number a group of columns as one a column."""
    return np.repeat(groups, columns // groups.shape[-1], -1)


class Maker:
    """Random settings of one folder."""

    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numbers = np.random.default_rng(self.choose.getrandbits(63))
        self.group = self.choose.choice([16, 32, 32, 64, 128])
        self.bits = self.choose.choice([4, 4, 4, 8])
        self.half = self.choose.choice(["F16", "BF16"])
        self.is_symmetric = self.choose.random() < .6
        self.is_reordered = self.choose.random() < .3
        self.is_narrow = self.choose.random() < .3  # -7 .. 7, as of Kimi

    def codes(self, *shape):
        low = 1 if self.is_narrow else 0
        return self.numbers.integers(low, 2**self.bits, shape, dtype=np.uint32)

    def scales(self, *shape, kind=None):
        """Scales of a type that are normal numbers of binary16, with their value in F32."""
        numbers = np.float32(2.0) ** self.numbers.uniform(-11, -4, shape).astype(np.float32)
        return self.stored(numbers, kind or self.half)

    @staticmethod
    def stored(numbers, kind):
        if kind == "BF16":
            halves = to_bf16(numbers)
            return ("BF16", halves), from_bf16(halves)
        if kind == "F16":
            halves = numbers.astype(np.float16)
            return ("F16", halves), halves.astype(np.float32)
        return ("F32", numbers.astype(np.float32)), numbers.astype(np.float32)

    def fits_blocks(self, rows_type):
        """The type if groups are made of whole blocks in order."""
        return rows_type if self.group % 32 == 0 and not self.is_reordered else None


def gptq(maker, rows, columns):
    bits, groups = maker.bits, columns // maker.group
    codes = maker.codes(rows, columns)
    middle = 2**(bits - 1)
    zeros = np.full((rows, groups), middle) if maker.is_symmetric else \
        maker.numbers.integers(1, 2**bits, (rows, groups))
    stored, scales = maker.scales(rows, groups, kind="F16")
    places = np.arange(columns) // maker.group
    if maker.is_reordered:
        maker.numbers.shuffle(places)
    numbers = (codes.astype(np.int64) - zeros[:, places]).astype(np.float32) * scales[:, places]
    tensors = {".qweight": ("I32", pack(codes, bits).T),
               ".qzeros": ("I32", pack((zeros.T - 1).astype(np.uint32), bits)),
               ".scales": ("F16", stored[1].T),
               ".g_idx": ("I32", places.astype(np.uint32))}
    kind = {4: "Q4_0", 8: "Q8_0"}[bits] if maker.is_symmetric else "Q5_0" if bits == 4 else None
    return tensors, numbers, maker.fits_blocks(kind)


def packed(maker, rows, columns):
    bits, groups = maker.bits, columns // maker.group
    codes = maker.codes(rows, columns)
    zeros = np.full((rows, groups), 2**(bits - 1)) if maker.is_symmetric else \
        maker.numbers.integers(0, 2**bits, (rows, groups))
    stored, scales = maker.scales(rows, groups)
    numbers = (codes.astype(np.int64) - spread(zeros, columns)).astype(np.float32) * \
        spread(scales, columns)
    tensors = {".weight_packed": ("I32", pack(codes, bits)), ".weight_scale": stored,
               ".weight_shape": ("I64", np.array([rows, columns], np.int64))}
    if not maker.is_symmetric:
        tensors[".weight_zero_point"] = ("I32", pack(zeros.T.astype(np.uint32), bits).T)
    kind = {4: "Q4_0", 8: "Q8_0"}[bits] if maker.is_symmetric else "Q5_0" if bits == 4 else None
    return tensors, numbers, kind if maker.group % 32 == 0 else None


def mlx(maker, rows, columns):
    bits, groups = maker.bits, columns // maker.group
    codes = maker.codes(rows, columns)
    stored, scales = maker.scales(rows, groups)
    sign = np.where(maker.numbers.random((rows, groups)) < .3, -1, 1).astype(np.float32)
    stored, scales = maker.stored(scales * sign, maker.half)
    lowest = -scales * maker.numbers.integers(0, 2**bits, (rows, groups)).astype(np.float32)
    stored_biases, biases = maker.stored(lowest, maker.half)
    numbers = codes.astype(np.float32) * spread(scales, columns) + spread(biases, columns)
    tensors = {".weight": ("U32", pack(codes, bits)), ".scales": stored, ".biases": stored_biases}
    return tensors, numbers, "Q4_1" if bits == 4 and maker.group % 32 == 0 else None


def e4m3():
    """The values of F8_E4M3 by their byte."""
    byte = np.arange(256)
    exponent, mantissa = byte >> 3 & 15, byte & 7
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6,
                    (1 + mantissa / 8) * 2.0**(exponent - 7.0))
    return np.where(byte >> 7, -size, size).astype(np.float32)


def fp8(maker, rows, columns):
    """Scales that are powers of two, as of newer models, or any number."""
    block = maker.group
    raw = maker.numbers.integers(0, 255, (rows, columns), dtype=np.uint8)
    raw[(raw & 127) == 127] = 0  # not a number
    shape = -(-rows // block), -(-columns // block)
    scales = np.float32(2.0) ** maker.numbers.integers(-12, -4, shape).astype(np.float32)
    if not maker.is_symmetric:
        scales *= np.float32(1.2345)
    whole = np.repeat(np.repeat(scales, block, 0), block, 1)[:rows, :columns]
    return ({".weight": ("F8_E4M3", raw), ".weight_scale_inv": ("F32", scales)},
            e4m3()[raw] * whole, "BF16" if maker.is_symmetric else None)


def int8(maker, rows, columns):
    raw = maker.numbers.integers(-128, 128, (rows, columns)).astype(np.int8)
    stored, scales = maker.scales(rows, 1)
    return ({".weight": ("I8", raw), ".weight_scale": stored},
            raw.astype(np.float32) * scales, "Q8_0" if columns % 32 == 0 else None)


def plain(maker, rows, columns):
    kind = maker.half if maker.is_symmetric else "F32"
    stored, numbers = maker.stored(maker.numbers.standard_normal((rows, columns)), kind)
    return {".weight": stored}, numbers, kind


def group_settings(maker):
    return {"config_groups": {"group_0": {"weights": {
        "num_bits": maker.bits, "group_size": maker.group, "strategy": "group", "type": "int"}}}}


FORMATS = {
    "gptq": (gptq, lambda maker: {"quantization_config": {
        "quant_method": "gptq", "bits": maker.bits, "group_size": maker.group}}),
    "packed": (packed, lambda maker: {"quantization_config": {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        **group_settings(maker)}}),
    "mlx": (mlx, lambda maker: {
        name: {"bits": maker.bits, "group_size": maker.group}
        for name in ("quantization", "quantization_config")}),
    "fp8": (fp8, lambda maker: {"quantization_config": {
        "quant_method": "fp8", "weight_block_size": [maker.group, maker.group]}}),
    "int8": (int8, lambda maker: {"quantization_config": {
        "quant_method": "compressed-tensors", "format": "int-quantized",
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "strategy": "channel"}}}}}),
    "plain": (plain, lambda maker: {}),
}


def safetensors(tensors):
    header, data = {}, b""
    for name, (kind, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Folder:
    """A model of llama with one layer."""

    def __init__(self, name, variant):
        maker = Maker(f"{name} {variant}")
        self.has_codes = name not in ("fp8", "plain")
        make, settings = FORMATS[name]
        self.maker = maker
        head = maker.choose.choice([32, 64, 128])
        heads, self.kv_heads = maker.choose.choice([(2, 1), (4, 2), (4, 4), (6, 2)])
        width = heads * head
        # Groups are whole in the rows of all weights; the other side is odd.
        inner = maker.group * maker.choose.randint(1, 6)
        if name != "fp8":
            width = head * heads if head * heads % maker.group == 0 else 128 * heads
        self.heads = heads
        layer = "model.layers.0."
        self.shapes = {
            layer + "self_attn.q_proj": ("blk.0.attn_q", width, width),
            layer + "self_attn.k_proj": ("blk.0.attn_k", width // heads * self.kv_heads, width),
            layer + "self_attn.v_proj": ("blk.0.attn_v", width // heads * self.kv_heads, width),
            layer + "self_attn.o_proj": ("blk.0.attn_output", width, width),
            layer + "mlp.gate_proj": ("blk.0.ffn_gate", inner, width),
            layer + "mlp.up_proj": ("blk.0.ffn_up", inner, width),
            layer + "mlp.down_proj": ("blk.0.ffn_down", width, inner)}
        self.tensors, self.expected = {}, {}
        for module, (to, rows, columns) in self.shapes.items():
            made, numbers, kind = make(maker, rows, columns)
            self.tensors.update({module + suffix: one for suffix, one in made.items()})
            if to.endswith(("attn_q", "attn_k")):
                numbers = self.pair_rows(numbers, heads if to.endswith("q") else self.kv_heads)
            self.expected[to + ".weight"] = numbers, kind
        for module, to in (("model.embed_tokens", "token_embd"), ("lm_head", "output")):
            stored, numbers = maker.stored(maker.numbers.standard_normal((3, width)), "BF16")
            self.tensors[module + ".weight"] = stored
            self.expected[to + ".weight"] = numbers, "BF16"
        for module, to in (("model.norm", "output_norm"),
                           (layer + "input_layernorm", "blk.0.attn_norm"),
                           (layer + "post_attention_layernorm", "blk.0.ffn_norm")):
            stored, numbers = maker.stored(maker.numbers.standard_normal(width), "BF16")
            self.tensors[module + ".weight"] = stored
            self.expected[to + ".weight"] = numbers, "F32"
        self.config = {
            "architectures": ["LlamaForCausalLM"], "vocab_size": 3, "num_hidden_layers": 1,
            "hidden_size": width, "intermediate_size": inner, "num_attention_heads": heads,
            "num_key_value_heads": self.kv_heads, "rms_norm_eps": 1e-5,
            "max_position_embeddings": 64, **settings(maker)}

    @staticmethod
    def pair_rows(numbers, heads):
        """The rows of rotations: halves of a head become neighbours."""
        rows = numbers.reshape(heads, 2, -1, numbers.shape[1])
        return rows.swapaxes(1, 2).reshape(numbers.shape)

    def write(self, path):
        (path / "config.json").write_text(json.dumps(self.config))
        (path / "model.safetensors").write_bytes(safetensors(self.tensors))
        (path / "tokenizer.json").write_text(json.dumps({
            "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
            "pre_tokenizer": {"type": "ByteLevel"}}))


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
        if wanted not in (None, kind) and not (wanted == "Q5_0" and kind in ("Q4_0", "Q4_1")):
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=8)
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
    print(f"{count} folders, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
