#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_mistral.py PROGRAM [--variants N] [--first N]

Makes small folders of Mistral's own form, odd on purpose: params.json, consolidated*.safetensors, and tekken.json or
tokenizer.model. Imports them, and compares all keys but general.* and all tensors with what a second reading of the
reference converter (conversion/mistral.py of llama.cpp) gives. Folders with one fault are refused.
"""
import argparse
import base64
import json
import pathlib
import random
import struct
import sys
import tempfile

from plain_folder import convert, difference, e4m3, encoded, padded, single, write_weights
from rules.gguf_file import Gguf

FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32}
SPECIALS = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
            "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
            "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"]
TEMPLATES = {"tekken v3": "mistral-v3-tekken", "tekken v7": "mistral-v7-tekken", "model ": "mistral-v1",
             "model .v3": "mistral-v3", "model .v7": "mistral-v7", "model .v7m1": "mistral-v7"}


def letters():
    """The letters that stand for bytes in a vocabulary like that of GPT-2."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return {**{byte: chr(byte) for byte in shown}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


LETTERS = letters()


def spelled(token):
    return "".join(LETTERS[byte] for byte in token)


class Tekken:
    """tekken.json, and the keys that it gives."""

    def __init__(self, choose):
        self.version = choose.choice(["v3", "v7", "v11", "v13"])
        is_listed = self.version in ("v11", "v13") or choose.random() < .5
        specials = choose.choice([24, 30])
        listed = SPECIALS + ["[ARGS]"] if is_listed else SPECIALS
        tokens = [bytes([byte]) for byte in range(256)]
        while len(tokens) < choose.choice([300, 320]):
            token = choose.choice(tokens) + choose.choice(tokens)
            if token not in tokens:
                tokens.append(token)
        used = len(tokens) - choose.choice([0, 5])  # a file may hold more tokens than the model has
        config = {"pattern": "x", "num_vocab_tokens": len(tokens), "default_vocab_size": used + specials,
                  "default_num_special_tokens": specials, "version": self.version}
        vocab = [{"rank": i, "token_bytes": base64.b64encode(token).decode(),
                  "token_str": token.decode("utf-8", "ignore") or None} for i, token in enumerate(tokens)]
        file = {"config": config, "vocab": vocab, "type": "Tekken"}
        if is_listed:
            file["special_tokens"] = [{"rank": i, "token_str": text, "is_control": True}
                                      for i, text in enumerate(listed)]
        self.files = {"tekken.json": json.dumps(file).encode()}
        self.kind = f"tekken {self.version}"
        tokens = tokens[:used]
        ranks = {token: rank for rank, token in enumerate(tokens)}
        self.merges = []
        for token in tokens[256:]:
            pairs = [(token[:i], token[i:]) for i in range(1, len(token))]
            pairs = [pair for pair in pairs if pair[0] in ranks and pair[1] in ranks]
            self.merges += sorted(pairs, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        self.texts = listed + [f"<SPECIAL_{i}>" for i in range(len(listed), specials)] + [spelled(t) for t in tokens]
        self.kinds = [3] * specials + [1] * len(tokens)
        self.ids = [listed.index(text) for text in ("<s>", "</s>", "<unk>", "<pad>")]

    def head(self):
        return {"tokenizer.ggml.model": ("str", "gpt2"), "tokenizer.ggml.pre": ("str", "tekken"),
                "tokenizer.ggml.merges": ("[str]", [f"{spelled(a)} {spelled(b)}" for a, b in self.merges])}

    def scores(self, as_reference):
        return ("[i32]" if as_reference else "[f32]"), [0] * len(self.texts)


def field(number, value):
    """A field of a protocol buffer: a number, a float or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    return bytes([number << 3 | 2, len(value)]) + value


class Pieces:
    """tokenizer.model of SentencePiece, and the keys that it gives."""

    def __init__(self, choose):
        ending = choose.choice(["", ".v3", ".v7", ".v7m1"])
        pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("[INST]", 0.0, choose.choice([3, 4])),
                  *((f"<0x{byte:02X}>", 0.0, 6) for byte in range(4)), ("\u2581a", -1.0, 1), ("b", -2.0, 1),
                  ("unused", -3.0, 5)]
        data = b"".join(field(1, field(1, text.encode()) + field(2, score) + field(3, kind))
                        for text, score, kind in pieces)
        self.files = {f"tokenizer.model{ending}": data}
        if ending:
            self.files["tokenizer.model"] = field(1, field(1, b"older") + field(2, 0.0))  # the latest counts
        self.kind = f"model {ending}"
        self.texts = [text for text, *_ in pieces]
        self.kinds = [1 if kind == 4 else kind for *_, kind in pieces]
        self.own_scores = [score for _, score, _ in pieces]
        self.ids = [1, 2, 0, 2]  # without a token for padding that is the end

    def head(self):
        return {"tokenizer.ggml.model": ("str", "llama")}

    def scores(self, _):
        return "[f32]", self.own_scores


class Folder:
    """params.json, weights and a tokenizer; `tensors` are name -> (numbers, shape) in the folder's order."""

    def __init__(self, variant):
        self.choose = choose = random.Random(f"mistral {variant}")
        self.is_moe = variant % 3 == 2
        self.tokenizer = choose.choice([Tekken, Tekken, Pieces])(choose)
        self.is_fp8 = choose.random() < .4
        self.type = "F32" if self.is_fp8 else choose.choice(["F32", "F16", "BF16"])
        self.layers, self.heads, self.width, self.inner = choose.choice([2, 3]), 4, 32, choose.choice([32, 64])
        self.template = choose.choice([None, None, "{{ x }}"])
        self.params = {"dim": self.width, "n_layers": self.layers, "hidden_dim": self.inner, "n_heads": self.heads,
                       "n_kv_heads": choose.choice([2, 4]), "norm_eps": 1e-5, "vocab_size": len(self.tokenizer.texts),
                       "rope_theta": 1e6, "head_dim": 8}
        for name, value in (("max_position_embeddings", 4096), ("max_seq_len", 2048), ("sliding_window", 64)):
            if choose.random() < .5:
                self.params[name] = value
        if self.is_moe or choose.random() < .5:
            self.params["yarn"] = {"factor": 4.0, "beta": 32.0, "alpha": 1.0,
                                   "original_max_position_embeddings": 1024, "apply_scale": False}
        if choose.random() < .5:
            self.params["llama_4_scaling"] = {"beta": .1, "original_max_position_embeddings": 1024}
        if self.is_moe:
            self.params.update(kv_lora_rank=16, q_lora_rank=24, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=12,
                               n_kv_heads=4, moe={"num_experts": 3, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
                                                  "expert_hidden_dim": 32, "num_shared_experts": 1,
                                                  "routed_scale": 1.0, "num_expert_groups": 1,
                                                  "num_expert_groups_per_tok": 1})
        if self.is_fp8:
            self.params["quantization"] = {"qformat_weight": "fp8_e4m3", "qscheme_act": "TENSOR"}
        self.stored, self.tensors = {}, {}
        for name, shape in sorted(self.shapes()):
            self.make(name, shape)

    def shapes(self):
        width, heads, rows = self.width, self.heads, self.params["n_kv_heads"] * 8
        yield "tok_embeddings.weight", (len(self.tokenizer.texts), width)
        yield "norm.weight", (width,)
        if self.choose.random() < .7:
            yield "output.weight", (len(self.tokenizer.texts), width)
        yield "vision_encoder.patch_conv.weight", (4, 4)
        for layer in range(self.layers):
            attention = [("wq", (heads * 8, width)), ("wk", (rows, width)), ("wv", (rows, width)),
                         ("wo", (width, heads * 8))]
            if self.is_moe:
                attention = [("wq_a", (24, width)), ("wq_b", (heads * 12, 24)), ("q_a_norm", (24,)),
                             ("wkv_a_with_mqa", (20, width)), ("kv_a_norm", (16,)), ("wkv_b", (heads * 20, 16)),
                             ("wo", (width, heads * 12))]
            for name, shape in attention:
                yield f"layers.{layer}.attention.{name}.weight", shape
            for name in ("attention_norm", "ffn_norm"):
                yield f"layers.{layer}.{name}.weight", (width,)
            parts = [f"layers.{layer}.feed_forward"]
            if self.is_moe and layer >= 1:
                yield f"layers.{layer}.gate.weight", (3, width)
                parts = [f"layers.{layer}.shared_experts", *(f"layers.{layer}.experts.{e}" for e in range(3))]
            for part in parts:
                inner = 32 if "expert" in part else self.inner
                for name, shape in (("w1", (inner, width)), ("w2", (width, inner)), ("w3", (inner, width))):
                    yield f"{part}.{name}.weight", shape

    def make(self, name, shape):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        if self.is_fp8 and ".attention.w" in name:
            codes = [self.choose.choice([c for c in range(256) if c & 127 != 127]) for _ in range(count)]
            scale = single(self.choose.uniform(.01, .1))
            self.stored[name] = "F8_E4M3", shape, bytes(codes)
            base = name.removesuffix("weight")
            self.stored[base + "qscale_weight"] = "F32", [], struct.pack("<f", scale)
            self.stored[base + "qscale_act"] = "F32", [], struct.pack("<f", 2)
            numbers = [single(e4m3(code) * scale) for code in codes]
        else:
            numbers = [self.choose.randrange(-128, 128) / 64 for _ in range(count)]  # which all types have
            self.stored[name] = self.type, shape, encoded(numbers, self.type)
        self.tensors[name] = numbers, shape

    def write(self, path):
        path.mkdir()
        (path / "params.json").write_text(json.dumps(self.params))
        for name, data in self.tokenizer.files.items():
            (path / name).write_bytes(data)
        if self.template:
            (path / "chat_template.jinja").write_text(self.template)
        names = sorted(self.stored)
        cut = self.choose.choice([0, len(names) // 2])
        for number, part in enumerate((names[:cut], names[cut:])):
            if part:
                write_weights(path / f"consolidated-{number + 1:05}-of-00002.safetensors",
                              {name: self.stored[name] for name in part})


def expected_keys(folder, as_reference):
    params, tokenizer = folder.params, folder.tokenizer
    yarn, moe = params.get("yarn"), params.get("moe")
    name = "deepseek2" if moe else "mistral3" if "llama_4_scaling" in params else "llama"
    keys = {"general.architecture": ("str", name)}

    def add(key, kind, value):
        if value is not None:
            keys[f"{name}.{key}"] = kind, single(value) if kind == "f32" else value

    missing = 128000 if moe else None if as_reference else params.get("max_seq_len", 128000)
    add("block_count", "u32", folder.layers)
    add("context_length", "u32", params.get("max_position_embeddings", missing))
    add("embedding_length", "u32", folder.width)
    add("feed_forward_length", "u32", folder.inner)
    add("attention.head_count", "u32", folder.heads)
    add("attention.head_count_kv", "u32", 1 if moe else params["n_kv_heads"])
    add("rope.freq_base", "f32", 1e6)
    add("attention.layer_norm_rms_epsilon", "f32", 1e-5)
    if moe:
        add("expert_count", "u32", 3)
        add("expert_used_count", "u32", 2)
        add("expert_group_count", "u32", 1)
        add("expert_group_used_count", "u32", 1)
        add("expert_gating_func", "u32", 1)
    add("attention.key_length", "u32", 20 if moe else 8)
    add("attention.value_length", "u32", 16 if moe else 8)
    keys["general.file_type"] = "u32", FILE_TYPES[folder.type]
    if moe:
        for key, value in (("leading_dense_block_count", 1), ("vocab_size", params["vocab_size"]),
                           ("attention.q_lora_rank", 24), ("attention.kv_lora_rank", 16),
                           ("attention.key_length_mla", 12), ("attention.value_length_mla", 12),
                           ("expert_feed_forward_length", 32), ("expert_shared_count", 1)):
            add(key, "u32", value)
        add("expert_weights_scale", "f32", 1.0)
        add("expert_weights_norm", "bool", True)
        add("rope.dimension_count", "u32", 4)
    else:
        add("rope.dimension_count", "u32", 8)
    if yarn:
        add("rope.scaling.type", "str", "yarn")
        add("rope.scaling.factor", "f32", yarn["factor"])
        add("rope.scaling.yarn_beta_fast", "f32", yarn["beta"])
        add("rope.scaling.yarn_beta_slow", "f32", yarn["alpha"])
        add("rope.scaling.yarn_log_multiplier", "f32", .1 if moe else 1)
        add("rope.scaling.original_context_length", "u32", 1024)
    if "llama_4_scaling" in params:
        add("attention.temperature_scale", "f32", params["llama_4_scaling"]["beta"])
    if moe:
        add("attention.temperature_length", "u32", 1024)
    keys["general.quantization_version"] = "u32", 2
    keys.update(tokenizer.head())
    for key, number in zip(("bos", "eos", "unknown", "padding"), tokenizer.ids):
        keys[f"tokenizer.ggml.{key}_token_id"] = "u32", number
    keys["tokenizer.ggml.tokens"] = "[str]", tokenizer.texts
    keys["tokenizer.ggml.scores"] = tokenizer.scores(as_reference)
    keys["tokenizer.ggml.token_type"] = "[i32]", tokenizer.kinds
    add("vocab_size", "u32", len(tokenizer.texts))
    keys["tokenizer.ggml.add_bos_token"] = "bool", True
    keys["tokenizer.ggml.add_eos_token"] = "bool", False
    template = folder.template or TEMPLATES.get(tokenizer.kind)
    if template:
        keys["tokenizer.chat_template"] = "str", template
    return keys


NAMES = {"attention.wq": "attn_q", "attention.wk": "attn_k", "attention.wv": "attn_v", "attention.wo": "attn_output",
         "attention_norm": "attn_norm", "ffn_norm": "ffn_norm", "feed_forward.w1": "ffn_gate",
         "feed_forward.w2": "ffn_down", "feed_forward.w3": "ffn_up", "attention.wq_a": "attn_q_a",
         "attention.wq_b": "attn_q_b", "attention.q_a_norm": "attn_q_a_norm",
         "attention.wkv_a_with_mqa": "attn_kv_a_mqa", "attention.kv_a_norm": "attn_kv_a_norm",
         "gate": "ffn_gate_inp", "shared_experts.w1": "ffn_gate_shexp", "shared_experts.w2": "ffn_down_shexp",
         "shared_experts.w3": "ffn_up_shexp", "tok_embeddings": "token_embd", "norm": "output_norm",
         "output": "output"}


def expected_tensors(folder):
    """(name, numbers, dims), in order."""
    waiting = {}
    for name, (numbers, shape) in folder.tensors.items():
        parts = name.removesuffix(".weight").split(".")
        if parts[0] == "vision_encoder":
            continue
        layer = f"blk.{parts[1]}." if parts[0] == "layers" else ""
        rest = ".".join(parts[2:] if layer else parts)
        if rest.startswith("experts."):
            experts = waiting.setdefault(layer, {})
            experts[parts[4], int(parts[3])] = numbers, shape
            if len(experts) == 9:
                for part, kind in (("w2", "down"), ("w1", "gate"), ("w3", "up")):
                    joined = sum((experts[part, number][0] for number in range(3)), [])
                    yield f"{layer}ffn_{kind}_exps.weight", joined, [*experts[part, 0][1][::-1], 3]
        elif rest == "attention.wkv_b":
            heads, rank = folder.heads, 16
            rows = [numbers[row * rank:(row + 1) * rank] for row in range(shape[0])]
            keys = [rows[head * 20 + column][place] for head in range(heads) for place in range(rank)
                    for column in range(8)]
            values = [number for head in range(heads) for row in rows[head * 20 + 8:head * 20 + 20] for number in row]
            yield f"{layer}attn_k_b.weight", keys, [8, rank, heads]
            yield f"{layer}attn_v_b.weight", values, [rank, 12, heads]
        else:
            yield f"{layer}{NAMES[rest]}.weight", numbers, list(shape[::-1])


def check(program, folder, path):
    """What is wrong with the import of a folder; None if nothing is."""
    folder.write(path / "model")
    for options in ([], ["--as-reference"]):
        done = convert(program, path / "model", path / "out.gguf", "--type", folder.type.lower(), *options)
        if done.returncode != 0:
            return done.stderr.strip()
        actual = Gguf((path / "out.gguf").read_bytes())
        kept = ("general.architecture", "general.file_type", "general.quantization_version")
        keys = [pair for pair in actual.keys.items() if pair[0] in kept or not pair[0].startswith("general.")]
        fault = difference(keys, list(expected_keys(folder, bool(options)).items()), "key")
        wanted = []
        for name, numbers, dims in expected_tensors(folder):
            is_plain = len(dims) == 1 or name.endswith(("_norm.weight", "ffn_gate_inp.weight"))
            kind = "F32" if is_plain else folder.type
            wanted.append((name, kind, dims, encoded(numbers, kind)))
        fault = fault or difference(padded(actual.tensors), padded(wanted), "tensor")
        if fault:
            return f"{' '.join(options)} {fault}"
    return None


def with_tekken(**changes):
    def change(folder):
        tekken = json.loads((folder / "tekken.json").read_text())
        for name, value in changes.items():
            place = tekken["config"] if name in tekken["config"] else tekken
            place[name] = value(place[name]) if callable(value) else value
        (folder / "tekken.json").write_text(json.dumps(tekken))
    return change


def with_params(**members):
    def change(folder):
        params = json.loads((folder / "params.json").read_text())
        (folder / "params.json").write_text(json.dumps({**params, **members}))
    return change


# A fault, a part of the message, and whether the options are others than none.
FAULTS = [
    (with_tekken(default_vocab_size=10**6), "default_vocab_size counts", []),
    (with_tekken(default_num_special_tokens=4), "default_num_special_tokens, 4", []),
    (with_tekken(version="seven"), "config.version must be", []),
    (with_tekken(vocab=lambda tokens: tokens[1:]), "with this rank", []),
    (with_tekken(vocab=lambda tokens: [{**one, "token_bytes": "*"} for one in tokens]), "base64", []),
    (lambda folder: (folder / "tekken.json").unlink(), "tekken.json or tokenizer.model is needed", []),
    (with_params(quantization={"qformat_weight": "nvfp4"}), "`nvfp4` is not supported", []),
    (with_params(n_layers=5), "layer", []),
    (with_params(n_layers=None), '"params.json": ', []),
    (lambda folder: None, "projectors are made of folders with config.json", ["--mmproj"]),
    (lambda folder: (folder / "consolidated-00002-of-00002.safetensors").unlink(), "consolidated*.safetensors", []),
]


def check_faults(program, path):
    seed = next(seed for seed in range(100) if isinstance(Folder(seed * 3).tokenizer, Tekken) and
                not Folder(seed * 3).is_fp8)
    faults = 0
    for number, (change, message, options) in enumerate(FAULTS):
        folder = Folder(seed * 3)
        folder.choose.choice = lambda options: options[0]  # one file of weights
        folder.write(path / str(number))
        change(path / str(number))
        done = convert(program, path / str(number), path / "out.gguf", *options)
        if done.returncode == 0 or message not in done.stderr:
            print(f"fault {number}: {done.returncode} {done.stderr.strip()}, expected: {message}")
            faults += 1
    return faults


def check_choice(program, path):
    """Of a folder with both forms config.json counts, if --mistral-format does not choose."""
    folder = Folder(0)
    folder.write(path / "both")
    (path / "both/config.json").write_text('{"architectures": ["NoSuchClass"]}')
    usual = convert(program, path / "both", path / "out.gguf")
    chosen = convert(program, path / "both", path / "out.gguf", "--mistral-format")
    is_right = usual.returncode != 0 and "NoSuchClass" in usual.stderr and chosen.returncode == 0
    if not is_right:
        print(f"a folder with both forms: {usual.stderr.strip()} {chosen.stderr.strip()}")
    return 0 if is_right else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    faults = 0
    for variant in range(options.first, options.first + options.variants):
        with tempfile.TemporaryDirectory() as name:
            fault = check(options.program, Folder(variant), pathlib.Path(name))
        if fault:
            print(f"variant {variant}: {fault}")
            faults += 1
    with tempfile.TemporaryDirectory() as name:
        faults += check_faults(options.program, pathlib.Path(name)) + check_choice(options.program, pathlib.Path(name))
    print(f"{options.variants} folders, {len(FAULTS)} with a fault: {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
