# SPDX-License-Identifier: MIT
"""Tiny model folders for the entries of golden/hf/architectures.json, odd on purpose."""
import json
import random
import re
import struct

import numpy as np

from rule_config import Refused
from rule_configs import HIDDEN, OddConfig
from rule_later import reading
from rule_token_files import TokenFiles

ROWS = 48  # a multiple of twice each number of heads
FLAT_KINDS = ("attn_norm_2", "attn_sinks", "attn_rot_embd", "rope_freqs", "ffn_exp_probs_b",
              "ffn_act", "cls_out")
EXPERT_KINDS = ("ffn_gate_exp", "ffn_up_exp", "ffn_down_exp")
POOLINGS = ("mean_tokens", "cls_token", "lasttoken")


class Folder:
    """One variant of an entry: config.json, tensors, and the files of a tokenizer."""

    def __init__(self, data, entry, variant):
        self.data, self.entry, self.variant = data, entry, variant
        self.random = random.Random(f"{entry['classes'][0]} {variant}")
        self.type = self.random.choice(["auto", "F32", "F16", "BF16", "Q8_0"])
        self.files = {}
        self.layers = self.random.choice([2, 3])
        self.config = {"architectures": [entry["classes"][variant % len(entry["classes"])]],
                       **OddConfig(data, entry, self.random, self.layers).members,
                       **entry.get("config", {})}
        self.token_rows = TokenFiles(self).make()
        self.inner = self.choose_inner()
        if {"group": "pooling"} in entry["keys"]:
            self.files["pooling"] = self.random.choice([None, *POOLINGS])
        self.tensors = []  # (name, type, array)
        self.make_tensors()

    def choose_inner(self):
        """The members that stand in a configuration within, as multimodal models have it."""
        if self.random.random() < .6:
            return None, []
        return (self.random.choice(["text_config", "llm_config", "lm_config", "language_config"]),
                [name for name in self.config
                 if name != "architectures" and self.random.random() < .5])

    def written_config(self):
        config = dict(self.config)
        place, names = self.inner
        if place:
            config[place] = {name: config.pop(name) for name in names}
        return config

    # Tensors

    def rows_of(self, name, config):
        for rule in self.entry.get("transform", []):
            if not re.search(rule["match"], name):
                continue
            if rule["op"] in ("split_interleaved_qkv", "three_parts"):
                return 3 * ROWS
            if rule["op"] in ("grouped_qkv", "falcon_qkv"):
                return 4 * (config.value(rule["heads"]) + 2 * config.value(rule["heads_kv"]))
            if rule["op"] == "mla_split":
                heads, nope, value = (config.value(rule[which]) for which in ("heads", "nope", "v"))
                return ROWS if None in (heads, nope, value) else heads * (nope + value)
        return ROWS

    def shape_of(self, kind, name, config):
        if kind.endswith("norm") or kind in FLAT_KINDS:
            return (32,)
        columns = self.random.choice([32, 64, 48])
        if kind in EXPERT_KINDS:
            return (2, 16, columns)
        return (self.rows_of(name, config), columns)

    def groups(self, config):
        """Lists of names and shapes that belong together."""
        for rule in self.entry.get("transform", []):
            yield from self.groups_of(rule, config)
        kinds = set(self.data["arch_tensors"][self.entry["arch"]])
        tensors = [row for part in ("global", "block") for row in self.data["tensor_names"][part]
                   if row[0] in kinds]
        self.random.shuffle(tensors)
        table = next(row for row in tensors if row[0] == "token_embd")
        for name in self.random.sample(table[2], len(table[2])):
            yield [(name + ".weight", (self.token_rows, HIDDEN))]
        for kind, base, accepted in tensors:
            names = [base, *accepted]
            name = names[(self.variant + self.random.randrange(2)) % len(names)]
            if kind == "ffn_exp_probs_b":
                name += self.random.choice([".bias", "_bias" if name.endswith("correction")
                                            else ".bias"])
            elif not name.endswith(".weight"):
                name += self.random.choice([".weight"] * 9 + [""])
            if kind == "token_embd":
                continue
            shape = self.shape_of(kind, name, config)
            group = [(name, shape)]
            if name.endswith(".weight") and self.random.random() < .3:
                group.append((name[:-6] + "bias", shape[:1]))
            yield group
            if kind == "output_norm":
                yield [("model.layers.{bid}.self_attn.rotary_emb.inv_freq", (4,))]
                yield [("vision_tower.blocks.0.weight", (4, 4))]

    def groups_of(self, rule, config):
        layer = "model.layers.{bid}."
        op = rule["op"]
        if op in ("stack_experts", "stack_heads"):
            pattern = rule["match"].strip("^$").replace("\\.", ".")
            parts = rule.get("parts") or [re.search(r"\((\w+)\)", pattern).group(1)]
            pattern = pattern.replace(r"(\d+)", "{bid}", 1).replace(r"(\d+)", "{expert}")
            pattern = re.sub(r"\([\w|]+\)", "{part}", pattern)
            yield [(pattern.replace("{part}", part).replace("{expert}", str(expert)),
                    (16, 32) if op == "stack_experts" else (8,))
                   for part in parts for expert in range(config.value(rule["count"]))]
        elif op == "split_rows_half":
            yield [(layer + "mlp.experts.gate_up_proj" + self.random.choice(["", ".weight"]),
                    (2, 24, 32))]
        elif op in ("rename", "transpose_rename"):
            last = "down_proj_bias" if "_bias" in rule["match"] else "down_proj"
            yield [(layer + "mlp.experts." + last, (2, 32, 64)[:2 if "_bias" in last else 3])]
        elif op == "deinterleave":
            last, shape = ("gate_up_proj_bias", (2, 64)) if "_bias" in rule["match"] else \
                ("gate_up_proj", (2, 32, 64))
            yield [(layer + "mlp.experts." + last, shape)]
        elif op == "gpt_oss_mxfp4" and self.variant % 2:
            for part in ("gate_up_proj", "down_proj"):
                yield [(layer + f"mlp.experts.{part}_blocks", (2, 6, 2, 16)),
                       (layer + f"mlp.experts.{part}_scales", (2, 6, 2))]
        elif op == "three_parts":
            yield [(layer + "self_attn.W_pack.weight", (3 * ROWS, 32))]
        elif op == "grouped_qkv":
            name = layer + "attention.wqkv.weight"
            yield [(name, (self.rows_of(name, config), 32))]
        elif op == "drop_layers_from":
            first_dropped = config.value(rule["value"])
            yield [(f"model.layers.{first_dropped}.enorm.weight", (32,)),
                   (f"model.layers.{first_dropped}.mlp.experts.0.up_proj.weight", (4, 4))]

    def make_tensors(self):
        make_config, make_rules, _ = reading(self.entry)
        config = make_config(self.config)
        used = {rule["tensor"] for rule in self.entry.get("extra_tensors", [])}
        names = set()
        is_bare = ["^", "model."] in self.entry.get("rename", [])
        for group in self.groups(config):
            if is_bare:
                group = [(name.removeprefix("model."), shape) for name, shape in group]
            spread = [(name.replace("{bid}", str(layer)), shape)
                      for layer in range(self.layers if any("{bid}" in n for n, _ in group) else 1)
                      for name, shape in group]
            made = [(name, *self.array(name, shape)) for name, shape in spread]
            rules = make_rules(self.data, self.entry, config, self.token_rows)
            try:
                outputs = [name for name, *_ in rules.outputs([(n, a) for n, _, a in made])]
            except Refused:
                continue
            outputs = outputs[sum(1 for _ in rules.extra()):]
            new = {name for name, _ in spread}
            if used & set(outputs) or new & names or len(set(outputs)) < len(outputs) \
                    or len(new) < len(spread):
                continue
            used |= set(outputs)
            names |= new
            self.tensors += made

    def array(self, name, shape):
        if name.endswith(("_blocks", "_scales")):
            return "U8", np.frombuffer(self.random.randbytes(int(np.prod(shape))),
                                       np.uint8).reshape(shape)
        numbers = np.random.default_rng(self.random.randrange(1 << 30)) \
            .standard_normal(shape).astype(np.float32)
        is_zero = name.endswith(".bias") and any(
            rule["op"] == "drop_if_all_zero" for rule in self.entry.get("transform", []))
        if is_zero:
            numbers *= 0
        kind = self.random.choice(["F32", "F16", "BF16"])
        if kind == "BF16":
            numbers = (numbers.view(np.uint32) & 0xffff0000).view(np.float32)
        return kind, numbers.astype(np.float16) if kind == "F16" else numbers

    def arrays(self):
        """Names and numbers in the order of the files."""
        return [(name, array) for _, part in self.parts() for name, _, array in sorted(
            part, key=lambda one: one[0].encode())]

    def parts(self):
        """The files and their tensors."""
        if self.variant % 3 or len(self.tensors) < 2:
            return [("model.safetensors", self.tensors)]
        half = len(self.tensors) // 2
        return [("model-00001-of-00002.safetensors", self.tensors[half:]),
                ("model-00002-of-00002.safetensors", self.tensors[:half])]

    def guessed_type(self, rules):
        for _, part in self.parts():
            for name, kind, array in sorted(part, key=lambda one: one[0].encode()):
                if rules.filtered(name) and array.ndim > 1 and kind in ("F16", "BF16"):
                    return kind
        return "F16"

    def write(self, path):
        folder = path / "tiny"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(self.written_config()))
        for name, part in self.parts():
            (folder / name).write_bytes(safetensors(part))
        if len(self.parts()) > 1:
            (folder / "model.safetensors.index.json").write_text(json.dumps(
                {"weight_map": {tensor: name for name, part in self.parts()
                                for tensor, *_ in part}}))
        for name, content in self.files.items():
            if name == "pooling":
                self.write_pooling(folder, content)
            elif isinstance(content, bytes):
                (folder / name).write_bytes(content)
            else:
                (folder / name).write_text(content if isinstance(content, str)
                                           else json.dumps(content))

    @staticmethod
    def write_pooling(folder, mode):
        if mode:
            (folder / "modules.json").write_text(json.dumps(
                [{"type": "x.models.Transformer", "path": ""},
                 {"type": "x.models.Pooling", "path": "1_Pooling"}]))
            (folder / "1_Pooling").mkdir()
            (folder / "1_Pooling/config.json").write_text(json.dumps(
                {f"pooling_mode_{one}": one == mode
                 for one in (*POOLINGS, "max_tokens")}))


def safetensors(tensors):
    header, data = {}, b""
    for name, kind, array in tensors:
        raw = (array.view(np.uint32) >> 16).astype(np.uint16).tobytes() if kind == "BF16" \
            else array.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
