# SPDX-License-Identifier: MIT
"""Expressions over config.json as golden/hf/architectures.json states them, and the keys they make.

It shares nothing with the library: the rules are read from the data file at run time.
"""
import math


class Refused(Exception):
    """The import must refuse the folder."""


def first(values, names):
    """Whether one of the names is a member, and the value of the first one."""
    for name in names:
        at, found = values, True
        for part in name.split("."):
            found = isinstance(at, dict) and part in at
            if not found:
                break
            at = at[part]
        if found:
            return True, at
    return False, None


class Config:
    """config.json with the text model laid over it, and its rotary parameters."""

    def __init__(self, values, file_type=0):
        self.values, self.file_type = values, file_type
        self.root = dict(values.get("rope_parameters") or values.get("rope_scaling") or {})
        root = self.root
        if "full_attention" not in root and "sliding_attention" not in root:
            def settle(target, name, source, names):
                value = first(source, names)[1]
                if name not in target and value is not None:
                    target[name] = value
            sliding = {}
            settle(sliding, "rope_theta", values,
                   ["local_rope_theta", "rope_local_theta", "rope_theta_local", "swa_rope_theta",
                    "rope_local_base_freq"])
            if sliding:
                root["sliding_attention"] = sliding
            settle(root, "rope_theta", values,
                   ["global_rope_theta", "rope_global_theta", "rope_theta_global", "rope_theta",
                    "rotary_emb_base"])
            settle(root, "rope_type", root, ["type"])
            settle(root, "partial_rotary_factor", values,
                   ["partial_rotary_factor", "rope_pct", "rope_percent"])
            settle(root, "original_max_position_embeddings", values,
                   ["original_max_position_embeddings"])
        self.rope = root.get("full_attention", root)

    @property
    def layers(self):
        return first(self.values, ["n_layers", "num_hidden_layers", "n_layer", "num_layers"])[1]

    @property
    def labels(self):
        """None if they are those that a configuration without labels is filled with."""
        labels = self.values.get("id2label")
        return None if labels and len(labels) == 2 and labels.get("0") == "LABEL_0" else labels

    def with_values(self, added):
        return Config({**self.values, **added}, self.file_type)

    def without(self, name):
        return Config({k: v for k, v in self.values.items() if k != name}, self.file_type)

    def look_up(self, rule, values, names):
        found, value = first(values, names)
        if value is not None:
            return None if rule.get("skip_zero") and not value else value
        if "default" in rule:
            return rule["default"]
        if rule.get("optional") or rule.get("skip_zero"):
            return None
        raise Refused(f"{names} {'is null' if found else 'is missing'}")

    def value(self, rule):
        """The value of an expression; None if it is absent."""
        if not isinstance(rule, dict):
            return rule
        if "block_count" in rule:
            return self.layers
        if "file_type" in rule:
            return self.file_type
        if "cfg" in rule:
            return self.look_up(rule, self.values, rule["cfg"])
        if "config_value" in rule:
            return self.values[rule["config_value"]]
        if "rope" in rule:
            return self.look_up(rule, self.rope, [rule["rope"]])
        if "rope0" in rule:
            return self.look_up(rule, self.root, [rule["rope0"]])
        if "rope_swa" in rule:
            return self.root.get("sliding_attention", {}).get(rule["rope_swa"])
        if "mrope_sections" in rule:
            count = rule["mrope_sections"]
            return (list(self.root["mrope_section"]) + [0] * count)[:count]
        if "map" in rule:
            return self.mapped(rule)
        if "if" in rule:
            return self.value(rule["then" if self.value(rule["if"]) else "else"])
        if "eq_each" in rule:
            types = self.value(rule["of"])
            if isinstance(types, list):
                return [kind == rule["eq_each"] for kind in types]
            return self.every(rule["else_every"])
        if "exaone_pattern" in rule:
            return self.exaone_pattern()
        return self.operation(rule["op"], rule["args"])

    def mapped(self, rule):
        value = self.value(rule["of"])
        if value is None:
            return None
        if str(value) not in rule["map"]:
            raise Refused(f"{value} is not among {list(rule['map'])}")
        return rule["map"][str(value)]

    def every(self, period):
        return [(layer + 1) % period != 0 for layer in range(self.layers)]

    def exaone_pattern(self):
        types = self.values.get("layer_types")
        if isinstance(types, list):
            return [kind == "sliding_attention" for kind in types]
        pattern = self.values.get("sliding_window_pattern")
        if isinstance(pattern, str):
            return [pattern[layer % len(pattern)] == "L" for layer in range(self.layers)]
        return None if pattern is None else self.every(pattern)

    def operation(self, name, args):
        if name == "has":
            return args[0] in self.values
        if name == "has_rope_root":
            return args[0] in self.root
        if name == "first_not_null":
            return next((v for v in map(self.value, args) if v is not None), None)
        if name == "first_not_zero":
            return next((v for v in map(self.value, args) if v), None)
        values = [self.value(arg) for arg in args]
        a, b = values[0], values[-1]
        tests = {"is_false": a is False, "is_null": a is None, "not_null": a is not None,
                 "truthy": bool(a), "==": a == b, "!=": a != b}
        if name in tests:
            return tests[name]
        if any(value is None for value in values):
            return None
        if name in ("/", "//") and b == 0:
            raise Refused("division by 0")
        return {"//": lambda: a // b, "*": lambda: a * b, "+": lambda: a + b, "/": lambda: a / b,
                "int": lambda: int(a), "sqrt": lambda: math.sqrt(a)}[name]()


class Keys:
    """The keys of an architecture, in order: name -> (type, value)."""

    def __init__(self, data, entry, config, folder):
        self.data, self.entry, self.config, self.folder = data, entry, config, folder
        self.keys = {}

    def set(self, name, kind, value):
        if value is None:
            return
        if isinstance(value, list):
            kind = "[bool]" if all(isinstance(v, bool) for v in value) else \
                "[i32]" if all(isinstance(v, int) for v in value) else \
                "[str]" if all(isinstance(v, str) for v in value) else "[f32]"
        if not name.startswith(("general.", "tokenizer.", "diffusion.", "xielu.")):
            name = f"{self.entry['arch']}.{name}"
        self.keys[name] = (kind, value)

    def add(self, rules, config=None):
        config = config or self.config
        for rule in rules:
            if "include" in rule:
                self.add(self.data["base_keys"], config)
            elif "group" in rule:
                getattr(self, rule["group"])(config, rule)
            elif "when" not in rule or config.value(rule["when"]):
                self.set(rule["key"], rule["type"], config.value(rule["value"]))
        return self.keys

    def base_without_head_dim(self, config, _):
        self.add(self.data["base_keys"], config.without("head_dim"))

    def base_with(self, config, rule):
        added = {}
        for name, value in rule["set"].items():
            if value is None:
                config = config.without(name)
            elif name[-1] != "?":
                added[name] = config.value(value)
            elif name[:-1] not in config.values:
                added[name[:-1]] = config.value(value)
        if config.values.get("max_trained_positions", 2048) != 2048 and "n_positions" in added:
            raise Refused("max_trained_positions")
        self.add(self.data["base_keys"], config.with_values(added))

    def rope_scaling(self, config, _):
        rope = config.rope
        kind, factor = rope.get("rope_type"), rope.get("factor")
        if kind in ("su", "longrope"):
            self.set("rope.scaling.type", "str", "longrope")
        if kind not in ("linear", "yarn") or factor is None:
            return
        self.set("rope.scaling.type", "str", kind)
        self.set("rope.scaling.factor", "f32", factor)
        if kind == "linear":
            return
        if rope.get("original_max_position_embeddings") is None:
            raise Refused("original_max_position_embeddings")
        self.set("rope.scaling.original_context_length", "u32",
                 rope["original_max_position_embeddings"])
        for key, names in (("ext_factor", ["extrapolation_factor"]),
                           ("attn_factor", ["attention_factor", "attn_factor"]),
                           ("beta_fast", ["beta_fast"]), ("beta_slow", ["beta_slow"])):
            self.set(f"rope.scaling.yarn_{key}", "f32", first(rope, names)[1])

    def pooling(self, _, __):
        mode = self.folder.get("pooling")
        if mode:
            self.set("pooling_type", "u32",
                     {"mean_tokens": 1, "cls_token": 2, "lasttoken": 3}[mode])

    def classifier_labels(self, config, _):
        labels = config.labels
        if labels:
            self.set("classifier.output_labels", "arr", [labels[key] for key in sorted(labels)])

    def phi3_attn_factor(self, config, _):
        root = config.root
        if root.get("long_factor") is None:
            return
        original = root["original_max_position_embeddings"]
        scale = config.values["max_position_embeddings"] / original
        kind, factor = root["rope_type"], 1.0
        if scale > 1:
            factor = 0.1 * math.log(scale) + 1 if kind == "yarn" else \
                math.sqrt(1 + math.log(scale) / math.log(original))
        self.set("rope.scaling.attn_factor", "f32", factor)
