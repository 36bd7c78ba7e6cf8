# SPDX-License-Identifier: MIT
"""Names, order and numbers of tensors as golden/hf/architectures.json states them, in NumPy."""
import re

import numpy as np

from rule_config import Refused

DROPPED_STARTS = ("mlp", "vit.", "vpm.", "siglip2.", "conformer.", "merger.", "resampler.",
                  "sound_encoder.", "sound_projection.", "speech_embeddings.")
DROPPED_PARTS = ("visual.", "vision.", "audio.", "talker.", "vision_", "audio_", "token2wav.",
                 "code2wav.", "projector.", "pre_mm_projector_norm", "image_newline",
                 "view_seperator", "patch_embed", "patch_embedding", "patch_merger.",
                 "patch_merge_mlp.", "model.connector.")
DROPPED_ENDS = (".attention.masked_bias", ".attention.bias", ".rotary_emb.inv_freq")
KEPT_ENDS = (".weight", ".lora_a", ".lora_b")
FP4_COLUMNS = 32


def layer_of(name):
    return next(int(part) for part in name.split(".") if part.isdigit())


def pair_rows(array, heads):
    rows = array.shape[0]
    return array.reshape(heads, 2, rows // heads // 2, *array.shape[1:]).swapaxes(1, 2) \
        .reshape(array.shape)


class TensorRules:
    """What the tensors of a folder become: a list of (name, array, type), in order."""

    def __init__(self, data, entry, config, token_count):
        self.data, self.entry, self.config = data, entry, config
        self.token_count = token_count
        self.stacks = {}
        self.names = {}
        kinds = set(data["arch_tensors"][entry["arch"]])
        for kind, base, accepted in data["tensor_names"]["global"]:
            if kind in kinds:
                self.names.update({name: base for name in [base, *accepted]})
        for layer in range(config.layers):
            for kind, base, accepted in data["tensor_names"]["block"]:
                if kind in kinds:
                    self.names.update({name.replace("{bid}", str(layer)):
                                       base.replace("{bid}", str(layer))
                                       for name in [base, *accepted]})

    def filtered(self, name):
        """The name after renames; None if the tensor is dropped."""
        for pattern, text in self.entry.get("rename", []):
            name = re.sub(pattern, text, name)
        if name.startswith(DROPPED_STARTS) or any(part in name for part in DROPPED_PARTS):
            return None
        if any(re.search(pattern, name) for pattern in self.entry.get("drop", [])):
            return None
        name = re.sub(r"e_score_correction_bias$", "e_score_correction.bias", name)
        name = name.replace("language_model.", "")
        return None if name.endswith(DROPPED_ENDS) else name

    def mapped(self, name):
        # The converter does this in code of its class, and the description lacks it.
        if self.entry["arch"] == "bert" and self.config.labels and \
                name in ("classifier.weight", "classifier.bias"):
            name = name.replace("classifier", "classifier.out_proj")
        if name in self.names:
            return self.names[name]
        for end in (".weight", ".bias"):
            if name.endswith(end) and name[:-len(end)] in self.names:
                return self.names[name[:-len(end)]] + end
        raise Refused(f"cannot map {name}")

    def transformed(self, name, array):
        pairs = [(name, array)]
        for number, rule in enumerate(self.entry.get("transform", [])):
            results = []
            for one, numbers in pairs:
                match = re.search(rule["match"], one)
                if match:
                    results += getattr(self, rule["op"])(rule, number, match, one, numbers)
                else:
                    results.append((one, numbers))
            pairs = results
        return pairs

    def outputs(self, tensors):
        """From (name, array) in the order of the files to (GGUF name, array)."""
        tensors = [(self.filtered(name), array) for name, array in tensors]
        tensors = [pair for pair in tensors if pair[0] is not None]
        results = [(name, array, None) for name, array in self.extra()]
        results += self.fp4_experts(tensors)
        for name, array in tensors:
            if not name.endswith(("_blocks", "_scales")):
                results += [(self.mapped(one), numbers, None)
                            for one, numbers in self.transformed(name, array)]
        if self.stacks:
            raise Refused("a stack is not whole")
        return results

    def extra(self):
        for rule in self.entry.get("extra_tensors", []):
            if rule["kind"] == "llama3_factors":
                if self.config.rope.get("rope_type") == "llama3":
                    yield rule["tensor"], self.llama3_factors(rule.get("default_factor", 8.0))
            elif self.config.root.get(rule["when_rope0"]) is not None:
                yield rule["tensor"], np.array(self.config.root[rule["from"]], np.float32)

    def llama3_factors(self, default_factor):
        rope, values, single = self.config.rope, self.config.values, np.float32
        if not values.get("head_dim") and not {"hidden_size", "num_attention_heads"} <= values.keys():
            raise Refused("the size of a head is stated under other names")
        size = values.get("head_dim") or values["hidden_size"] // values["num_attention_heads"]
        factor = single(rope.get("factor", default_factor))
        low, high = single(rope.get("low_freq_factor", 1)), single(rope.get("high_freq_factor", 4))
        original = single(rope.get("original_max_position_embeddings", 8192))
        base = single(rope.get("rope_theta", 10000.0))
        factors = []
        # One by one: powers of whole arrays are less exact. The reference divides a number by a
        # tensor as the number times the reciprocals.
        for i in range(0, size, 2):
            frequency = single(1) / base ** (single(i) / single(size))
            wave = single(1) / frequency * single(2 * np.pi)
            smooth = (original * (single(1) / wave) - low) / (high - low)
            factors.append(1 if wave < original / high else factor if wave > original / low else
                           single(1) / ((single(1) - smooth) / factor + smooth))
        return np.array(factors, single)

    def fp4_experts(self, tensors):
        """MXFP4 as it stands in GGUF: a scale, then elements j and j + 16 in byte j."""
        arrays = dict(tensors)
        for name in sorted(arrays):
            if not name.endswith("_blocks"):
                continue
            blocks, scales = arrays[name], arrays[name.replace("_blocks", "_scales")]
            codes = np.stack([blocks & 15, blocks >> 4], -1).reshape(*blocks.shape[:3], 32)
            stored = np.concatenate([scales[..., None], codes[..., :16] | codes[..., 16:] << 4], -1)
            base = name[:-len("_blocks")]
            if base.endswith("down_proj"):
                parts = [(base, stored)]
            else:
                base = base.replace("gate_up_proj", "")
                parts = [(base + "gate_proj", stored[:, 0::2]), (base + "up_proj", stored[:, 1::2])]
            for part, numbers in parts:
                yield self.mapped(part + ".weight"), numbers, "MXFP4"

    # The transforms: (rule, its number, match, name, array) -> [(name, array)]

    def number(self, rule, which):
        return self.config.value(rule[which])

    def rope_pairs(self, rule, _, __, name, array):
        return [(name, pair_rows(array, self.number(rule, "heads")))]

    def transpose(self, _, __, ___, name, array):
        return [(name, array.T)]

    def add(self, rule, _, __, name, array):
        return [(name, array + array.dtype.type(rule["value"]))]

    def rename(self, rule, _, __, name, array):
        return [(re.sub(rule["sub"][0], rule["sub"][1], name, count=1), array)]

    def transpose_rename(self, rule, _, __, name, array):
        return self.rename(rule, 0, None, name, array.swapaxes(-1, -2))

    def stack(self, key, wanted, place, array):
        stack = self.stacks.setdefault(key, {})
        stack[place] = array
        return self.stacks.pop(key) if len(stack) == wanted else None

    def stack_experts(self, rule, number, match, _, array):
        layer, expert, part = match.groups()
        count, parts = self.number(rule, "count"), rule["parts"]
        whole = self.stack((number, layer), count * len(parts), (part, int(expert)), array)
        return [] if whole is None else [
            (rule["name"].replace("{bid}", layer).replace("{part}", one),
             np.stack([whole[one, i] for i in range(count)])) for one in parts]

    def stack_heads(self, rule, number, match, _, array):
        layer, _, head = match.groups()
        count = self.number(rule, "count")
        whole = self.stack((number, layer), count, int(head), array)
        return [] if whole is None else [
            (rule["name"].replace("{bid}", layer), np.stack([whole[i] for i in range(count)]))]

    @staticmethod
    def filled(rule, name):
        base = re.sub(rule.get("base_strip", "$^"), "", name)
        return [one.replace("{base}", base).replace("{bid}", str(layer_of(name)))
                for one in rule["names"]]

    def split_rows_half(self, rule, _, __, name, array):
        return list(zip(self.filled(rule, name), np.split(array, 2, axis=-2)))

    def deinterleave(self, rule, _, __, name, array):
        if rule.get("transpose_first"):
            array = array.swapaxes(-1, -2)
        axis = rule["axis"]
        parts = [np.take(array, range(i, array.shape[axis], 2), axis) for i in (0, 1)]
        return list(zip(self.filled(rule, name), parts))

    def split_interleaved_qkv(self, rule, _, __, name, array):
        heads = self.number(rule, "heads")
        return [(name, array.reshape(heads, 3, -1, *array.shape[1:]).swapaxes(0, 1)
                 .reshape(array.shape))]

    def groups(self, rule, array):
        heads, kv_heads = self.number(rule, "heads"), self.number(rule, "heads_kv")
        size = array.shape[0] // (heads + 2 * kv_heads)
        grouped = array.reshape(kv_heads, heads // kv_heads + 2, size, *array.shape[1:])
        rows = (-1, *array.shape[1:])
        return (grouped[:, :-2].reshape(rows), grouped[:, -2].reshape(rows),
                grouped[:, -1].reshape(rows))

    def grouped_qkv(self, rule, _, __, name, array):
        query, key, value = self.groups(rule, array)
        return list(zip(self.filled(rule, name),
                        (pair_rows(query, self.number(rule, "heads")),
                         pair_rows(key, self.number(rule, "heads_kv")), value)))

    def falcon_qkv(self, rule, _, __, name, array):
        return [(name, np.concatenate(self.groups(rule, array)))]

    def three_parts(self, rule, _, __, name, array):
        parts = np.split(array, 3)
        for i, heads in enumerate(rule["rope_pairs"]):
            if heads is not None:
                parts[i] = pair_rows(parts[i], self.config.value(heads))
        return list(zip(self.filled(rule, name), parts))

    def mla_split(self, rule, _, __, name, array):
        heads, nope, value = (self.number(rule, which) for which in ("heads", "nope", "v"))
        if None in (heads, nope, value):
            raise Refused("a number of the heads is missing")
        view = array.reshape(heads, nope + value, array.shape[1])
        return [(name.replace("kv_b_proj", "k_b_proj"), view[:, :nope].swapaxes(1, 2)),
                (name.replace("kv_b_proj", "v_b_proj"), view[:, nope:])]

    def cut_rows_to_vocab(self, _, __, ___, name, array):
        return [(name, array[:self.token_count])]

    def drop_if(self, rule, _, __, name, array):
        return [] if self.config.value(rule["when"]) else [(name, array)]

    def drop_layers_from(self, rule, _, match, name, array):
        is_kept = int(match.group(1)) < self.number(rule, "value")
        return [(name, array)] if is_kept else []

    def drop_if_all_zero(self, _, __, ___, name, array):
        if array.any():
            raise Refused(f"{name} is not zero")
        return []

    # How numbers are stored

    def type_of(self, name, dims, wanted):
        always = {pattern.replace("{bid}", str(layer)) for pattern in self.data["always_f32"]
                  for layer in range(self.config.layers)}
        if len(dims) < 2 or name.endswith("_norm.weight") or name in always \
                or not name.endswith(KEPT_ENDS):
            return "F32"
        return "F16" if wanted == "Q8_0" and dims[0] % 32 else wanted


def encoded(array, kind):
    """The bytes of an array in a type."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if kind == "MXFP4":
            return array.tobytes()
        if kind in ("F32", "F16"):
            return array.astype("<f4" if kind == "F32" else "<f2").tobytes()
        single = np.ascontiguousarray(array.astype(np.float32))
        if kind == "BF16":
            bits = single.view(np.uint32).astype(np.uint64)
            return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()
        blocks = single.reshape(-1, 32)
        scale = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
        inverse = np.where(scale == 0, np.float32(0), np.float32(1) / scale)
        size = np.abs(scaled := blocks * inverse)
        floor = np.floor(size)
        codes = np.sign(scaled) * (floor + np.floor(2 * (size - floor)))
        return np.concatenate([scale.astype("<f2").view(np.uint8).reshape(-1, 2),
                               codes.astype(np.int8).view(np.uint8)], 1).tobytes()
