# SPDX-License-Identifier: MIT
"""Folders with quantized weights of every format, odd on purpose, and what they stand for, by the
formats' formulas alone."""
import json
import random
import struct

import numpy as np


def from_bf16(halves):
    return (halves.astype(np.uint32) << 16).view(np.float32)


def to_bf16(numbers):
    """Cut, not rounded: the numbers of these tests only need to be ones that BF16 has."""
    return (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


# The formats of folders. A function makes the tensors of a weight: their suffixes with type and
# numbers, what they stand for, and the type that the result must have, None if the values decide.

def pack(codes, bits):
    """Codes of the last axis into words, the lowest bits first; the last word may be filled up.
    Codes of 3, 5 and 6 bits go on in the next word, as of MLX."""
    ones = (codes[..., None] >> np.arange(bits, dtype=np.uint32) & 1).astype(np.uint8)
    ones = ones.reshape(*codes.shape[:-1], -1)
    filled = np.zeros((*codes.shape[:-1], -(-ones.shape[-1] // 32) * 32), np.uint8)
    filled[..., :ones.shape[-1]] = ones
    return np.packbits(filled, -1, bitorder="little").view("<u4")


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
        self.module = None  # the name of the weight that is made
        self.own = {}  # settings of weights that differ from the others

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


AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def awq(maker, rows, columns):
    """Codes of eight outputs in a word, in AWQ's order; or, of GEMV, of eight inputs in theirs."""
    is_rows = maker.is_reordered
    groups = columns // maker.group
    codes, zeros = maker.codes(rows, columns), maker.numbers.integers(0, 16, (rows, groups))
    if maker.is_symmetric:
        zeros[:] = 8
    stored, scales = maker.scales(rows, groups, kind="F16")
    numbers = (codes.astype(np.int64) - spread(zeros, columns)).astype(np.float32) * \
        spread(scales, columns)
    zeros = zeros.astype(np.uint32)
    if is_rows:
        width = -(-groups // 8) * 8
        wide = [np.zeros((rows, width), part.dtype) for part in (zeros, stored[1])]
        wide[0][:, :groups], wide[1][:, :groups] = zeros, stored[1]
        tensors = {".qweight": ("I32", pack(codes, 4)), ".qzeros": ("I32", pack(wide[0], 4)),
                   ".scales": ("F16", wide[1])}
    else:
        def turned(part):
            return pack(part.T.reshape(part.shape[1], -1, 8)[..., AWQ_ORDER]
                        .reshape(part.shape[1], -1), 4)
        tensors = {".qweight": ("I32", turned(codes)), ".qzeros": ("I32", turned(zeros)),
                   ".scales": ("F16", stored[1].T)}
    kind = "Q4_0" if maker.is_symmetric else "Q5_0"
    return tensors, numbers, kind if maker.group % 32 == 0 else None


def mlx(maker, rows, columns):
    """All bits that MLX has; some weights have others than config.json says for all."""
    bits, group = maker.bits, maker.group
    if maker.choose.random() < .3:
        bits = maker.choose.choice([2, 3, 4, 5, 6, 8])
        maker.own[maker.module] = {"bits": bits, "group_size": group}
    groups = columns // group
    codes = maker.numbers.integers(0, 2**bits, (rows, columns), dtype=np.uint32)
    stored, scales = maker.scales(rows, groups)
    sign = np.where(maker.numbers.random((rows, groups)) < .3, -1, 1).astype(np.float32)
    stored, scales = maker.stored(scales * sign, maker.half)
    lowest = -scales * maker.numbers.integers(0, 2**bits, (rows, groups)).astype(np.float32)
    stored_biases, biases = maker.stored(lowest, maker.half)
    numbers = codes.astype(np.float32) * spread(scales, columns) + spread(biases, columns)
    tensors = {".weight": ("U32", pack(codes, bits)), ".scales": stored, ".biases": stored_biases}
    kind = {2: "Q4_1", 3: "Q4_1", 4: "Q4_1", 5: "Q5_1"}.get(bits)
    return tensors, numbers, kind if group % 32 == 0 else None


FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)
MLX_MODES = {"mxfp4": (32, 4), "nvfp4": (16, 4), "mxfp8": (32, 8)}


def mlx_floats(maker, rows, columns):
    """Codes that stand for floats, with scales of a byte."""
    group, bits = MLX_MODES[maker.mode]
    if bits == 4:
        codes = maker.numbers.integers(0, 16, (rows, columns), dtype=np.uint32)
        values = FP4[codes]
    else:
        codes = maker.numbers.integers(0, 127, (rows, columns), dtype=np.uint32)
        values = e4m3()[codes]
    # Weights of usual size: an engine has the scales of activations in binary16.
    low, high = (8, 40) if maker.mode == "nvfp4" else (118, 122)
    raw = maker.numbers.integers(low, high, (rows, columns // group), dtype=np.uint8)
    scales = e4m3()[raw] if maker.mode == "nvfp4" else np.float32(2.0) ** (
        raw.astype(np.float32) - 127)
    return ({".weight": ("U32", pack(codes, bits)), ".scales": ("U8", raw)},
            values * spread(scales, columns),
            {"mxfp4": "MXFP4", "mxfp8": "BF16"}.get(maker.mode, None if columns % 64 else "NVFP4"))


def bits_and_bytes(maker, rows, columns):
    """4 bits by a table, with blocks that end within rows; the largest numbers of blocks are
    quantized, too, or not. The dictionary of the table is random: the file's own counts."""
    count, block = rows * columns, maker.block
    codes = maker.numbers.integers(0, 16, count, dtype=np.uint8)
    table = np.sort(maker.numbers.uniform(-1, 1, 16)).astype(np.float32)
    blocks = -(-count // block)
    state = {"quant_type": maker.kind, "blocksize": block, "dtype": "bfloat16",
             "shape": [rows, columns]}
    tensors = {}
    if maker.is_nested:
        raw = maker.numbers.integers(0, 256, blocks, dtype=np.uint8)
        outer_table = maker.numbers.uniform(-1, 1, 256).astype(np.float32)
        outer = maker.numbers.uniform(.01, .1, -(-blocks // 256)).astype(np.float32)
        offset = np.float32(.0437)
        maxima = outer_table[raw] * np.repeat(outer, 256)[:blocks] + offset
        state.update(nested_blocksize=256, nested_dtype="float32", nested_offset=float(offset))
        tensors = {".weight.absmax": ("U8", raw), ".weight.nested_absmax": ("F32", outer),
                   ".weight.nested_quant_map": ("F32", outer_table)}
    else:
        maxima = maker.numbers.uniform(.01, .1, blocks).astype(np.float32)
        tensors = {".weight.absmax": ("F32", maxima)}
    both = np.append(codes, np.uint8(0))[:-(-count // 2) * 2].reshape(-1, 2)
    text = np.frombuffer(json.dumps(state).encode(), np.uint8)
    tensors |= {".weight": ("U8", (both[:, :1] << 4 | both[:, 1:])),
                ".weight.quant_map": ("F32", table),
                f".weight.quant_state.bitsandbytes__{maker.kind}": ("U8", text)}
    numbers = table[codes] * np.repeat(maxima, block)[:count]
    return tensors, numbers.reshape(rows, columns), None


def llm_int8(maker, rows, columns):
    raw = maker.numbers.integers(-127, 128, (rows, columns)).astype(np.int8)
    maxima = maker.numbers.uniform(.01, 2, rows).astype(np.float32)
    return ({".weight": ("I8", raw), ".SCB": ("F32", maxima),
             ".weight_format": ("U8", np.zeros((), np.uint8))},
            raw.astype(np.float32) * maxima[:, None] * np.float32(1 / 127), None)


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
    "awq": (awq, lambda maker: {"quantization_config": {
        "quant_method": "awq", "bits": 4, "group_size": maker.group, "zero_point": True,
        "version": "gemv" if maker.is_reordered else "gemm"}}),
    "mlx": (mlx, lambda maker: {
        name: {"bits": maker.bits, "group_size": maker.group, **maker.own}
        for name in ("quantization", "quantization_config")}),
    "mlx_experts": (mlx, lambda maker: {
        "quantization": {"bits": maker.bits, "group_size": maker.group, **maker.own}}),
    "mlx_floats": (mlx_floats, lambda maker: {"quantization": {
        "mode": maker.mode, "group_size": MLX_MODES[maker.mode][0],
        "bits": MLX_MODES[maker.mode][1]}}),
    "bitsandbytes": (bits_and_bytes, lambda maker: {"quantization_config": {
        "quant_method": "bitsandbytes", "load_in_4bit": True}}),
    "llm_int8": (llm_int8, lambda maker: {"quantization_config": {
        "quant_method": "bitsandbytes", "load_in_8bit": True}}),
    "fp8": (fp8, lambda maker: {"quantization_config": {
        "quant_method": "fp8", "weight_block_size": [maker.group, maker.group]}}),
    "int8": (int8, lambda maker: {"quantization_config": {
        "quant_method": "compressed-tensors", "format": "int-quantized",
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "strategy": "channel"}}}}}),
    "plain": (plain, lambda maker: {}),
}


def adjust(name, maker):
    """Settings that only some formats have."""
    if name.startswith("mlx"):
        maker.bits = maker.choose.choice([2, 3, 4, 4, 5, 6, 8])
        maker.mode = maker.choose.choice(list(MLX_MODES))
        maker.group = maker.choose.choice([32, 64, 128])
    elif name == "awq":
        maker.bits = 4
    elif name == "bitsandbytes":
        maker.block = maker.choose.choice([32, 64, 64, 128, 4096])
        maker.is_nested = maker.choose.random() < .5
        maker.kind = maker.choose.choice(["nf4", "nf4", "fp4"])
        maker.group = maker.choose.choice([5, 7, 32])  # odd rows


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
    """A model of llama with one layer, or of Qwen 3 with experts as MLX stacks them."""

    def __init__(self, name, variant, vocabulary=3):
        self.vocabulary = vocabulary
        maker = Maker(f"{name} {variant}")
        adjust(name, maker)
        self.has_codes = name not in ("fp8", "plain", "bitsandbytes")
        make, settings = FORMATS[name]
        self.maker = maker
        head = maker.choose.choice([32, 64, 128])
        heads, self.kv_heads = maker.choose.choice([(2, 1), (4, 2), (4, 4), (6, 2)])
        width = heads * head
        # Groups are whole in the rows of all weights; the other side is odd.
        inner = maker.group * maker.choose.randint(1, 6)
        if name not in ("fp8", "bitsandbytes", "llm_int8"):
            width = head * heads if head * heads % maker.group == 0 else 128 * heads
        self.heads = heads
        self.experts = 3 if name == "mlx_experts" else 0
        layer, kv_width = "model.layers.0.", width // heads * self.kv_heads
        shapes = {
            layer + "self_attn.q_proj": ("blk.0.attn_q", width, width),
            layer + "self_attn.k_proj": ("blk.0.attn_k", kv_width, width),
            layer + "self_attn.v_proj": ("blk.0.attn_v", kv_width, width),
            layer + "self_attn.o_proj": ("blk.0.attn_output", width, width)}
        mlp, to = ("mlp.switch_mlp.", "_exps") if self.experts else ("mlp.", "")
        for part, rows, columns in (("gate", inner, width), ("up", inner, width),
                                    ("down", width, inner)):
            shapes[f"{layer}{mlp}{part}_proj"] = f"blk.0.ffn_{part}{to}", rows, columns
        self.tensors, self.expected = {}, {}
        for module, (to, rows, columns) in shapes.items():
            maker.module = module
            count = self.experts if "switch_mlp" in module else 1
            made, numbers, kind = make(maker, rows * count, columns)
            if count > 1:
                made = {suffix: (dtype, array.reshape(count, rows, *array.shape[1:]))
                        for suffix, (dtype, array) in made.items()}
                numbers = numbers.reshape(count, rows, columns)
            self.tensors.update({module + suffix: one for suffix, one in made.items()})
            if to.endswith(("attn_q", "attn_k")) and not self.experts:
                numbers = self.pair_rows(numbers, heads if to.endswith("q") else self.kv_heads)
            self.expected[to + ".weight"] = numbers, kind
        for module, to in (("model.embed_tokens", "token_embd"), ("lm_head", "output")):
            self.add_plain(module, to, (vocabulary, width), "BF16")
        norms = {"model.norm": "output_norm", layer + "input_layernorm": "blk.0.attn_norm",
                 layer + "post_attention_layernorm": "blk.0.ffn_norm"}
        for module, to in norms.items():
            self.add_plain(module, to, width, "F32")
        if self.experts:
            for part in "qk":
                self.add_plain(f"{layer}self_attn.{part}_norm", f"blk.0.attn_{part}_norm",
                               width // heads, "F32")
            self.add_plain(layer + "mlp.gate", "blk.0.ffn_gate_inp", (self.experts, width), "F32")
        self.config = {
            "architectures": ["Qwen3MoeForCausalLM" if self.experts else "LlamaForCausalLM"],
            "vocab_size": vocabulary, "num_hidden_layers": 1,
            "hidden_size": width, "intermediate_size": inner, "num_attention_heads": heads,
            "num_key_value_heads": self.kv_heads, "rms_norm_eps": 1e-5,
            "max_position_embeddings": 64, **settings(maker)}
        if self.experts:
            self.config.update(num_experts=self.experts, num_experts_per_tok=2, moe_intermediate_size=inner)

    def add_plain(self, module, to, shape, kind):
        stored, numbers = self.maker.stored(self.maker.numbers.standard_normal(shape), "BF16")
        self.tensors[module + ".weight"] = stored
        self.expected[to + ".weight"] = numbers, kind

    @staticmethod
    def pair_rows(numbers, heads):
        """The rows of rotations: halves of a head become neighbours."""
        rows = numbers.reshape(heads, 2, -1, numbers.shape[1])
        return rows.swapaxes(1, 2).reshape(numbers.shape)

    def write(self, path):
        (path / "config.json").write_text(json.dumps(self.config))
        (path / "model.safetensors").write_bytes(safetensors(self.tensors))
        vocab = {"a": 0, "b": 1, "ab": 2} | {f"a{i}": i for i in range(3, self.vocabulary)}
        (path / "tokenizer.json").write_text(json.dumps({
            "model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]},
            "pre_tokenizer": {"type": "ByteLevel"}}))
