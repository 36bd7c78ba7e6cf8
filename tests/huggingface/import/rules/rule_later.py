# SPDX-License-Identifier: MIT
"""The entries of golden/hf2/architectures2.json in the language of golden/hf/architectures.json.

What that file says in words is written here a second time; what is left is named in NOT_READ.
"""
import json
import math
import re

import numpy as np

from rule_config import Config, Refused
from rule_tensors import TensorRules, layer_of
from rule_tokens import BYTE, CONTROL, USER_DEFINED, SpecialBlock, Tokenizer

# Entries that the golden cases alone hold to the reference, and what this reading has not.
NOT_READ = {
    **dict.fromkeys(["T5ForConditionalGeneration", "T5EncoderModel", "XLMRobertaModel", "JinaBertForMaskedLM",
                     "Gemma4ForConditionalGeneration", "Gemma4UnifiedForConditionalGeneration",
                     "Gemma4AssistantForCausalLM", "ArcticForCausalLM", "QWenLMHeadModel", "DeciLMForCausalLM",
                     "RobertaModel", "JambaForCausalLM", "HunYuanMoEV1ForCausalLM", "KimiLinearForCausalLM",
                     "MambaForCausalLM", "Mamba2ForCausalLM", "NomicBertModel(moe)"], "a tokenizer of its own"),
    **dict.fromkeys(["Rwkv7ForCausalLM", "Rwkv6ForCausalLM", "Plamo2ForCausalLM", "Plamo3ForCausalLM",
                     "DeepseekOCRForCausalLM", "NemotronHForCausalLM", "OpenELMForCausalLM", "Step3p5ForCausalLM",
                     "LlamaForCausalLMEagle3", "DFlashDraftModel", "DeepseekV4ForCausalLM", "BitnetForCausalLM",
                     "HunYuanVLForConditionalGeneration", "GraniteMoeHybridForCausalLM", "Lfm2Model",
                     "MiMoV2FlashForCausalLM", "ApertusForCausalLM", "PhiMoEForCausalLM", "NanbeigeForCausalLM", "Llama4ForConditionalGeneration"], "keys or names in words"),
}
STACKED = {r"mixer\.experts\.": "backbone.layers.{bid}.mixer.experts.",
           r"\.moe\.|block_sparse_moe\.experts\.": "model.layers.{bid}.block_sparse_moe.experts.",
           r"block_sparse_moe\.experts\.": "model.layers.{bid}.block_sparse_moe.experts.",
           r"feed_forward\.experts\.": "model.layers.{bid}.feed_forward.experts.",
           r"mlp\.experts\.(\d+)\.": "model.layers.{bid}.mlp.experts.",
           r"mlp\.chunk_experts\.": "model.layers.{bid}.mlp.chunk_experts."}
MLA = {"heads": {"cfg": ["num_key_value_heads"]}, "nope": {"cfg": ["qk_nope_head_dim"]}, "v": {"cfg": ["v_head_dim"]}}
# What the file leaves open, or out, as the reference has it.
RESIDUAL_SCALE = {"attention.residual_scale??": "residual_scale"}
MORE_KEYS = {"Cohere2MoeForCausalLM": ("expert_weights_norm", {"key": "expert_gating_func", "type": "u32", "value": 2})}
EXTRAS_OF = {"Phi4ForCausalLMV": "Phi3ForCausalLM", "GraniteMoeForCausalLM": "GraniteForCausalLM",
             "ExaoneMoEForCausalLM": "Exaone4ForCausalLM"}
TRANSFORMS_OF = {"KimiK25ForConditionalGeneration": "DeepseekV2ForCausalLM"}
KNOWN = {"subtract_mean", "rope_pairs", "add", "rename", "transpose_rename", "stack_experts", "split_rows_half", "mla_split",
         "cut_rows_to_vocab", "drop_if", "drop_if_all_zero", "neg_exp", "squeeze", "squeeze_axis", "exact", "pad_rows",
         "split_last_half_transposed"}
STEPS = {"add_prefix_space_last": "set_space_prefix", "gpt2_or_tiktoken": "gpt2", "grok": "spm_or_gpt2",
         "nemotron_h": "pad_to_8"}


def expanded(entries, keys):
    """Keys with those of other entries in their place."""
    for rule in keys:
        if rule.get("include", "base") == "base":
            yield rule
        else:
            yield from expanded(entries, entries[rule["include"]]["keys"])


def full_pattern(rule):
    start = STACKED[rule["match"]]
    return "^" + re.escape(start).replace(r"\{bid\}", r"(\d+)") + r"(\d+)\.(" + "|".join(rule["parts"]) + r")\.weight$"


def readable(rule):
    rule = dict(rule)
    if rule["op"] == "stack_experts":
        if rule["match"] not in STACKED or isinstance(rule["count"], str) or "{linear" in rule.get("name", ""):
            return {"op": "not_read", "match": rule["match"]}
        rule["match"] = full_pattern(rule)
    if rule["op"] == "mla_split":
        rule.update(MLA)
    if rule["op"] == "subtract_mean":
        rule["match"] = r"\.expert_bias\.bias$"  # the renames come first here
    if rule["op"] not in KNOWN or "-> " in rule["match"] or isinstance(rule.get("when"), str) and \
            rule["when"] != "tie_word_embeddings":
        rule["op"] = "not_read"
    if rule.get("when") == "tie_word_embeddings":
        rule["when"] = {"cfg": ["tie_word_embeddings"], "optional": True}
    return rule


def load(golden):
    """The entries that can be read, as a file of the first set would hold them."""
    older = json.loads((golden / "hf/architectures.json").read_text())
    later = json.loads((golden / "hf2/architectures2.json").read_text())
    entries = {**older["architectures"], **later["architectures"]}
    read = {}
    for name, entry in later["architectures"].items():
        if name in NOT_READ or any(isinstance(rule, str) for rule in entry.get("transform", [])):
            continue
        renames = [rule for one in entry.get("rename", []) for rule in
                   (entries[one].get("rename", []) if isinstance(one, str) else [one])]
        # What generation_config.json and weights say is no rule of config.json.
        keys = [rule for rule in expanded(entries, entry["keys"])
                if rule.get("key") != "tokenizer.ggml.suppress_tokens"]
        keys = [{**rule, "key": RESIDUAL_SCALE.get(rule["key"], rule["key"])} if "key" in rule else rule
                for rule in keys]
        if name in MORE_KEYS:
            before, more = MORE_KEYS[name]
            keys.insert(1 + next(i for i, rule in enumerate(keys) if rule.get("key") == before), more)
        extras = entries[EXTRAS_OF.get(name, name)]
        transforms = older["architectures"][TRANSFORMS_OF[name]]["transform"] if name in TRANSFORMS_OF else \
            [readable(rule) for rule in entry.get("transform", [])]
        read[name] = {**entry, "rename": renames, "keys": keys, "is_later": True,
                      "transform": transforms,
                      "vocab": [STEPS.get(step, step) for step in entry["vocab"]],
                      "config": {"model_type": "mistral4"} if entry["arch"] == "mistral4" else {},
                      "classes": [one.partition("(")[0] for one in entry["classes"]],
                      "keys_during_tensors": extras.get("keys_during_tensors", []),
                      "extra_tensors": [rule for rule in extras.get("extra_tensors", []) if isinstance(rule, dict)]}
    return {**older, "architectures": read, "tensor_names": later["tensor_names"],
            "arch_tensors": {**older["arch_tensors"], **later["arch_tensors"]},
            "always_f32": [*older["always_f32"], *(f"blk.{{bid}}.{name}.weight" for name in (
                "ssm_conv1d", "ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v", "shortconv.conv", "time_mix_first",
                "time_mix_w1", "time_mix_w2", "time_mix_decay_w1", "time_mix_decay_w2", "time_mix_lerp_fused",
                "altup_correct_coef", "altup_predict_coef", "indexer.proj", "indexer.k_proj", "indexer.q_proj",
                "ffn_gate_inp", "ffn_gate_inp_shexp"))]}


class LaterConfig(Config):
    """Expressions with the words of the later file."""

    def value(self, rule):
        if not isinstance(rule, dict):
            return rule
        if "each_layer" in rule:
            return self.each_layer(rule)
        if "layers_extra" in rule:
            return None
        if "raw" in rule:
            return self.values[rule["raw"]]
        if "truthy_each" in rule:
            return [bool(one) for one in self.look_up({}, self.values, [rule["truthy_each"]])]
        if "eq_each" in rule and "of" not in rule:
            types = self.look_up({"optional": "else_" in rule}, self.values, [rule["eq_each"]])
            return [bool(i % 4) for i in range(self.layers)] if types is None else \
                [kind == rule["value"] for kind in types]
        if "lfm2_ff" in rule:
            return self.feed_forward_of_lfm2()
        return super().value(rule)

    def with_values(self, added):
        return LaterConfig({**self.values, **added}, self.file_type)

    def without(self, name):
        return LaterConfig({k: v for k, v in self.values.items() if k != name}, self.file_type)

    def feed_forward_of_lfm2(self):
        size = self.look_up({}, self.values, ["block_ff_dim", "intermediate_size"])
        if not self.values.get("block_auto_adjust_ff_dim"):
            return size
        size = int(2 * size / 3)
        factor = self.values.get("block_ffn_dim_multiplier")
        size = int(size * (1 if factor is None else factor))
        step = self.look_up({}, self.values, ["block_multiple_of"])
        return (size + step - 1) // step * step

    def each_layer(self, rule):
        place = rule["each_layer"]
        if place == "first":
            count = self.value({"cfg": [rule["count_cfg"]]}) if "count_cfg" in rule else rule["count"]
            chosen = [i < self.layers - count for i in range(self.layers)]
        elif place in ("one_of", "periodic"):
            raise Refused("not read")
        else:
            kinds = self.look_up({}, self.values, [place])
            chosen = [kinds[i] == rule["equals"] for i in range(self.layers)]
        return [self.value(rule["then" if one else "else"]) for one in chosen]

    def value_or_none(self, rule):
        try:
            return self.value(rule)
        except Refused:
            return None

    def operation(self, name, args):
        if name == "or":
            return next((v for v in map(self.value, args) if v not in (None, 0, [], "", False)),
                        self.value(args[-1]))
        if name in ("is_null", "not_null", "in", "=="):
            values = [self.value_or_none(arg) for arg in args]
        else:
            values = [self.value(arg) for arg in args]
        a, b = values[0], values[-1]
        if name == "normal_icdf_each":
            return [{0.0: -math.inf, .5: 0.0, .95: 1.6448533535003662}[one] for one in a]
        if name == "all_equal":
            return a is not None and all(one == b for one in a)
        if name == "any_not_zero":
            return any(a or [])
        if name == "leading":
            if values[1] is None:
                return b
            return next((i for i, one in enumerate(values[1]) if one != a), len(values[1]))
        if name in ("is_null", "not_null", "=="):
            return {"is_null": a is None, "not_null": a is not None, "==": a == b}[name]
        if name == "in":
            return a in b if isinstance(b, list) else a in values[1:]
        if name == "len":
            return None if a is None else len(a)
        if name == "only":
            return a if not isinstance(a, list) else a[0] if a and all(x == a[0] for x in a) else None
        if name in ("ceil_div", "**", "-"):
            if a is None or b is None:
                return None
            if a == 0 and b < 0 or b == 0 and name == "ceil_div":
                raise Refused("division by 0")
            return {"ceil_div": lambda: -(-a // b), "**": lambda: a ** b, "-": lambda: a - b}[name]()
        return super().operation(name, args)


class LaterTensors(TensorRules):
    """The transforms of the later file."""

    def add(self, rule, number, match, name, array):
        # No checkpoint of these classes has norms under the names of other families.
        own = ("layernorm.weight", "_norm.weight", "enorm.weight", "hnorm.weight", "shared_head.norm.weight")
        if "linear_attn" in rule["match"] and (
                super().mapped(name).endswith("ssm_norm.weight") or
                not name.endswith(own) and name not in ("norm.weight", "model.norm.weight")):
            raise Refused("a name that no checkpoint has")
        return super().add(rule, number, match, name, array)

    def filtered(self, name):
        if self.entry["arch"] == "bailingmoe" and name.startswith("blk."):
            raise Refused("a name that no checkpoint has")
        return super().filtered(name)

    def not_read(self, *_):
        raise Refused("a transform that this reading has not")

    def subtract_mean(self, _, __, ___, name, array):
        """In the type of the file; numbers of BF16 come as F32 whose last 16 bits are 0."""
        def stored(numbers):
            if array.dtype == np.float16:
                return numbers.astype(np.float16).astype(np.float32)
            bits = numbers.astype(np.float32).view(np.uint32).astype(np.uint64)
            if (array.view(np.uint32) & 0xffff).any():
                return numbers.astype(np.float32)
            return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)
        mean = stored(np.array([array.astype(np.float64).mean()]))
        return [(name, stored(array.astype(np.float32) - mean))]

    def neg_exp(self, _, __, ___, name, array):
        numbers = -np.exp(array.astype(np.float32).astype(np.float64)).astype(np.float32)
        return [(name, numbers.astype(array.dtype))]

    def squeeze(self, _, __, ___, name, array):
        return [(name, array.squeeze())]

    def squeeze_axis(self, rule, _, __, name, array):
        if array.ndim <= rule["axis"] or array.shape[rule["axis"]] != 1:
            raise Refused("not one position")
        return [(name, array.squeeze(rule["axis"]))]

    def exact(self, rule, _, __, name, array):
        self.exact_names.add(exact := rule["name"].replace("{bid}", str(layer_of(name))))
        return [(exact, array)]

    exact_names = frozenset()

    def outputs(self, tensors):
        self.exact_names = set()
        return super().outputs(tensors)

    def type_of(self, name, dims, wanted):
        # DBRX gives all that has two dimensions the type of weights, whatever it is called.
        is_weight = self.entry["arch"] == "dbrx" and not name.endswith("_norm.weight")
        return super().type_of("weight.weight" if is_weight else name, dims, wanted)

    def transformed(self, name, array):
        kinds = [kind for rule in self.entry["transform"] if rule["match"].startswith("-> ")
                 for kind in rule["match"][3:].split(", ")]
        for one, numbers in super().transformed(name, array):
            if any(kind in self.mapped(one).split(".") for kind in kinds):
                raise Refused("a transform that this reading has not")
            yield one, numbers

    def mapped(self, name):
        # Names of GGUF itself are in no checkpoint, but a transform may have made them.
        return name if name in self.exact_names or name.startswith("blk.") else super().mapped(name)

    def pad_rows(self, rule, _, __, name, array):
        rows = self.number(rule, "rows") - array.shape[0]
        return [(name, np.concatenate([array, np.zeros((max(rows, 0), *array.shape[1:]), array.dtype)]))]

    def split_last_half_transposed(self, rule, _, __, name, array):
        return [(one, part.swapaxes(-1, -2)) for one, part in
                zip(self.filled(rule, name), np.split(array, 2, axis=-1))]

    def stack_experts(self, rule, number, match, name, array):
        stacked = super().stack_experts(rule, number, match, name, array)
        if "names" not in rule:
            return stacked
        return [(one.replace("{bid}", match.group(1)), whole) for one, (_, whole) in zip(rule["names"], stacked)]


class LaterTokenizer(Tokenizer):
    """The steps of the later file."""

    def fallbacks(self, pairs):
        self.read_vocabulary()
        self.write_tokens("gpt2")
        block = SpecialBlock(self, has_merges=True)
        added = {**self.added_of_json(), **self.added_of_settings()}
        for kind, text in pairs:
            for number, token in added.items():
                if token["content"] == text:
                    block.ids.setdefault(kind, number)
        block.write(self.keys)

    def glm(self):
        self.fallbacks([("bos", "[gMASK]"), ("eot", "<|user|>"), ("unk", "<|endoftext|>"), ("eom", "<|observation|>")])

    def solar(self):
        self.fallbacks([("eos", "<|endoftext|>"), ("eot", "<|endoftext|>"), ("unk", "<unk>"),
                        ("bos", "<|startoftext|>")])

    def chatglm(self):
        padded = self.config.values.get("padded_vocab_size")
        if padded is not None:
            self.config = self.config.with_values({"vocab_size": padded})
        self.fallbacks([("eos", "<|endoftext|>"), ("eot", "<|user|>"), ("unk", "<|endoftext|>")])

    def hunyuan(self):
        self.read_vocabulary()
        self.write_tokens("gpt2")
        pad = self.written.get("pad_token_id")
        kinds = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]
        if isinstance(pad, int) and pad < 0:
            kinds.remove("pad")
        SpecialBlock(self, has_merges=True, kinds=kinds).write(self.keys)
        if isinstance(self.written.get("eod_token_id"), int):
            self.keys["tokenizer.ggml.eos_token_id"] = ("u32", self.written["eod_token_id"])

    def refact_fim(self):
        """Writes nothing of what it reads."""

    def set_flags(self, value, *kinds):
        for kind in kinds:
            self.keys[f"tokenizer.ggml.add_{kind}_token"] = ("bool", value)

    def add_bos_false_first(self):
        self.set_flags(False, "bos")

    def add_bos_true_last(self):
        self.set_flags(True, "bos")

    def modern_bert_first(self):
        self.set_flags(True, "bos", "eos", "sep")

    def vocab_of_text(self):
        self.config = self.config.without("vocab_size_per_layer_input")

    def token_type_count(self):
        types = self.config.values.get("type_vocab_size")
        self.keys["tokenizer.ggml.token_type_count"] = ("u32", 1 if types is None else types)

    def im_end_bos_eos(self):
        for number, token in self.added_of_settings().items():
            if token["content"] == "<|im_end|>":
                self.keys["tokenizer.ggml.bos_token_id"] = ("u32", number)
                self.keys["tokenizer.ggml.eos_token_id"] = ("u32", number)
                return

    def asr_template(self):
        self.keys["tokenizer.chat_template"] = (
            "str", "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
                   "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}"
                   "{{ '<|im_start|>assistant\\n' }}{% endif %}")
        self.im_end_bos_eos()

    def xverse(self):
        self.read_vocabulary()
        for number, token in {**self.added_of_json(), **self.added_of_settings()}.items():
            self.tokens[number] = [token["content"], 0, CONTROL if token["special"] else USER_DEFINED]
        for token in self.tokens:
            if re.fullmatch("<0x[0-9A-Fa-f]{2}>", token[0]):
                token[2] = BYTE
        self.write_tokens("llama")
        del self.keys["tokenizer.ggml.scores"]
        SpecialBlock(self, count=len(self.tokens)).write(self.keys)

    def pad_to_8(self):
        size = self.config.values.get("vocab_size")
        if size is not None:
            self.config = self.config.with_values({"vocab_size": -(-size // 8) * 8})


def reading(entry):
    """What reads configurations, tensors and tokenizers of an entry."""
    return (LaterConfig, LaterTensors, LaterTokenizer) if entry.get("is_later") else (Config, TensorRules, Tokenizer)
