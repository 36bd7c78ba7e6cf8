# SPDX-License-Identifier: MIT
"""Configurations for the entries of golden/hf/architectures.json, odd on purpose."""
import json

from rule_config import Keys, Refused, first
from rule_later import reading

HIDDEN = 64
LAYER_NAMES = ("n_layers", "num_hidden_layers", "n_layer", "num_layers")
HEAD_NAMES = ("num_attention_heads", "n_head", "n_heads")
KEY_HEAD_NAMES = ("num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv",
                  "attn_config.kv_n_heads")
EXPERT_NAMES = ("num_local_experts", "num_experts", "n_routed_experts")
GATING_NAMES = ("score_function", "scoring_func", "score_func", "moe_router_activation",
                "moe_router_activation_func", "expert_selection_fn")
FLAGS = [True, False]
# What a member may be; the others are numbers from 1 on, or any number where the key is an f32.
CHOICES = {
    **dict.fromkeys(HEAD_NAMES, [2, 4, 6]),
    **dict.fromkeys(KEY_HEAD_NAMES, [1, 2]),
    **dict.fromkeys(GATING_NAMES, ["softmax", "sigmoid", "sqrtsoftplus"]),
    **dict.fromkeys(("attn_config.alibi", "tie_word_embeddings", "use_parallel_residual",
                     "norm_topk_prob"), FLAGS),
    "hidden_size": [HIDDEN], "first_k_dense_replace": [1], "n_positions": [2048, 8192],
    "is_causal": [True, False, None], "model_type": ["ministral3", "x"],
    "sliding_window_pattern": [1, 2, 3], "attn_config.clip_qkv": [None, 6.5],
    "qk_nope_head_dim": [2, 4], "v_head_dim": [3, 4], "head_dim": [4, 8, 16], "hidden_activation": ["gelu", "silu"],
    # The golden cases have layers that predict further tokens.
    "num_nextn_predict_layers": [0], "mtp_num_hidden_layers": [0],
}
NUMBERS = [0, 1, 0.0, 1e-6, 500000, 0.123456789, 33.3, 7.7e-3]
ROPE_CHOICES = {
    "factor": [4.0], "low_freq_factor": [1.5], "high_freq_factor": [4],
    "original_max_position_embeddings": [128], "beta_fast": [32], "beta_slow": [1.0],
    "attention_factor": [1.1], "attn_factor": [.7], "extrapolation_factor": [.9],
    "mscale_all_dim": [.707], "mrope_section": [[2, 2, 4], [1, 2], [1, 2, 3, 4, 5]],
    "llama_4_scaling_beta": [.1], "rope_theta": [12345.5], "partial_rotary_factor": [.75],
}
# Members with an element for each layer, or lists of another length.
LISTS = {"no_rope_layers": [0, 1], "indexer_types": ["full", "shared"], "activation_sparsity_pattern": [0.0, .5, .95],
         "moe_layer_freq": [0, 1], "mlp_layer_types": ["dense", "sparse"], "sliding_window_layout": [0, 1],
         "vision_config.deepstack_visual_indexes": [0, 2, 5]}
LABELS = [None, {"0": "LABEL_0", "1": "LABEL_1"}, {"0": "no", "10": "so", "2": "yes"}]


def config_names(rules):
    """Pairs of a list of names and the type of the key that needs one of them."""
    found = []

    def walk(rule, kind):
        if isinstance(rule, list):
            for one in rule:
                walk(one, kind)
        elif isinstance(rule, dict):
            if "cfg" in rule:
                found.append((rule["cfg"], kind))
            for place in ("eq_each", "each_layer", "truthy_each", "count_cfg"):
                if rule.get(place) not in (None, "first") and "of" not in rule:
                    found.append(([rule[place]], kind))
            if "lfm2_ff" in rule:
                found.extend(([name], kind) for name in ("block_ff_dim", "intermediate_size", "block_multiple_of"))
            for name, one in rule.items():
                if name != "cfg":
                    walk(one, rule.get("type", kind))
    walk(rules, "u32")
    return found


class OddConfig:
    """Makes the members of config.json for an entry."""

    def __init__(self, data, entry, random, layers):
        self.data, self.entry, self.random, self.layers = data, entry, random, layers
        self.members = {}
        self.experts = random.choice([2, 3])
        self.heads = random.choice([2, 4, 6]), random.choice([1, 2])
        self.make()

    def has(self, share):
        return self.random.random() < share

    def number(self, name, kind):
        if name in EXPERT_NAMES:
            return self.experts
        if name in LAYER_NAMES:
            return self.layers
        if name == "layer_types":
            other = "conv" if self.entry["arch"].startswith("lfm2") else "sliding_attention"
            return self.random.choices([other, "full_attention"], k=self.layers)
        if name in LISTS:
            return self.random.choices(LISTS[name], k=self.layers)
        if self.entry.get("is_later") and name in (*HEAD_NAMES, *KEY_HEAD_NAMES):
            # The reference and the import differ in which of two numbers of heads counts.
            return self.heads[name in KEY_HEAD_NAMES]
        if name in CHOICES:
            return self.random.choice(CHOICES[name])
        return self.random.choice(NUMBERS) if kind == "f32" else self.random.randrange(1, 300)

    def put(self, name, value):
        target, parts = self.members, name.split(".")
        for part in parts[:-1]:
            target = target.setdefault(part, {})
        target[parts[-1]] = value

    def make(self):
        self.put(self.random.choice(LAYER_NAMES), self.layers)
        own = config_names([self.entry["keys"], self.entry.get("transform", [])])
        wanted = [(name, kind, .8) for names, kind in own for name in names]
        wanted += [(name, kind, .4) for names, kind in config_names(self.data["base_keys"])
                   for name in names]
        for name, kind, share in wanted:
            if not first(self.members, [name])[0] and self.has(share):
                self.put(name, None if self.has(.05) else self.number(name, kind))
        self.make_rope()
        self.put_odd_members()
        self.put_needed([(name, kind) for name, kind, _ in wanted])

    def put_needed(self, wanted):
        """Adds members until the rules miss none."""
        for name, kind in wanted:
            if self.is_enough():
                return
            if first(self.members, [name])[1] is None:
                self.put(name, self.number(name, kind))

    def put_odd_members(self):
        choose = self.random.choice
        if self.entry["arch"] == "exaone4":
            self.members.pop("layer_types", None)
            self.put("sliding_window_pattern", choose(["LLG", "GL", 2, 4, None]))
            if self.has(.5):
                self.put("layer_types", ["full_attention", "sliding_attention"])
        if self.entry["arch"] == "bert":
            self.put("id2label", choose(LABELS))
            self.put("type_vocab_size", choose([None, 1, 2]))

    def make_rope(self):
        choose = self.random.choice
        for name in ("rope_theta", "rotary_emb_base", "rope_local_base_freq", "local_rope_theta",
                     "swa_rope_theta", "global_rope_theta"):
            if self.has(.3):
                self.put(name, choose([10000, 10000.0, 500000.0, 1e6]))
        if self.has(.5):
            self.put(choose(["partial_rotary_factor", "rope_pct", "rope_percent"]),
                     choose([.25, .5]))
        if self.has(.5):
            self.put("original_max_position_embeddings", choose([16, 512]))
        needs_root = self.entry["arch"] in ("phi3", "mistral3")
        kinds = ["longrope", "su", "yarn"]
        if self.entry["arch"] != "phi3":
            kinds += ["llama3", "linear", "dynamic", "default", None]
        root = {name: choose(values) for name, values in ROPE_CHOICES.items() if self.has(.5)}
        kind = choose(kinds)
        if kind:
            root[choose(["type", "rope_type"])] = kind
        if self.has(.5):
            root.update(long_factor=[1.0, 2, 3.3], short_factor=[1.5, 1, 1.1])
        if self.has(.2):
            root = {"full_attention": root, "sliding_attention": {"rope_theta": 777.0}}
        if needs_root:
            root = {"mscale_all_dim": .5, "llama_4_scaling_beta": .2,
                    "original_max_position_embeddings": 100, **root}
        if any("mrope_section" in json.dumps(rule) for rule in self.entry["keys"]):
            root.setdefault("mrope_section", [1, 2, 3])
        if needs_root or self.has(.7):
            self.put(choose(["rope_parameters", "rope_scaling"]), root)

    def is_enough(self):
        """Whether the rules miss no member."""
        config = reading(self.entry)[0](self.members)
        try:
            Keys(self.data, self.entry, config, {}).add(self.entry["keys"])
            Keys(self.data, self.entry, config, {}).add(self.entry.get("keys_during_tensors", []))
            for rule in self.entry.get("transform", []):
                for which in ("heads", "heads_kv", "count", "nope", "v"):
                    config.value(rule.get(which))
                if rule["op"] == "drop_layers_from":
                    config.value(rule["value"])
        except (Refused, KeyError, TypeError):
            return False
        return True
