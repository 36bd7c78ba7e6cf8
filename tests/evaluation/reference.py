#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""reference.py WRITE_LOGITS [PROGRAM [ARCHITECTURE...]]: the forward pass a second time, in float64.

Runs WRITE_LOGITS, which writes tiny models with the logits that the library computes, and compares
those with its own; with PROGRAM, for the samples that it makes of all architectures. It shares no code with the library: the
reader of GGUF and the facts of architectures are its own, too.
"""
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

import encoder_reference as encoder
import stream_reference as streams
from recurrent_reference import channel_mix, convolve, delta_net, state_space, time_mix

CHUNK = 40
LIMIT = 1e-4  # of the largest logit of a token


def read_gguf(path):
    """Keys and F32 tensors of a file."""
    data = path.read_bytes()
    at = 24
    tensor_count, key_count = struct.unpack_from("<QQ", data, 8)

    def take(form):
        nonlocal at
        value, = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize(form)
        return value

    def text():
        nonlocal at
        size = take("Q")
        at += size
        return data[at - size:at].decode(errors="replace")

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            element = take("I")
            return [value(element) for _ in range(take("Q"))]
        return take("BbHhIif?__Qqd"[kind])

    keys = {}
    for _ in range(key_count):
        name, kind = text(), take("I")
        keys[name] = value(kind)
    infos = []
    for _ in range(tensor_count):
        name = text()
        shape = [take("Q") for _ in range(take("I"))]
        kind, offset = take("I"), take("Q")
        if kind == 0:
            infos.append((name, shape, offset))
    begin = (at + 31) // 32 * 32
    tensors = {name: np.frombuffer(data, "<f4", math.prod(shape), begin + offset)
               .reshape(shape[::-1]).astype(np.float64) for name, shape, offset in infos}
    return keys, tensors


# The facts of each architecture that its tensors do not tell.
NEIGHBOURS = ("llama", "smollm3", "granite", "granitemoe", "baichuan", "internlm2", "xverse",
              "ernie4_5", "ernie4_5-moe", "olmo", "chatglm", "glm4", "command-r", "cohere2",
              "minicpm", "arcee", "bailingmoe", "deepseek", "deepseek2", "llama4", "granitehybrid",
              "neo-bert", "llama-embed", "plm", "mistral3", "maincoder")
UNROTATED = (*encoder.UNROTATED_ENCODERS, "gpt2", "bloom", "starcoder", "mpt", "jais", "refact", "jamba", "nemotron_h", "nemotron_h_moe",
             "kimi-linear")
# Norms without means, though there is a key for the others.
RMS = ("phimoe", "nemotron_h", "nemotron_h_moe", "rwkv6qwen2", "arwkv7")
GATED_QUERIES = ("qwen3next", "qwen35", "qwen35moe")
GELU = (*encoder.GELU_ENCODERS, "gemma", "gemma2", "gemma3", "gpt2", "bloom", "starcoder", "starcoder2", "gptneox", "mpt",
        "falcon", "phi2", "codeshell")
SQUARED = ("arcee", "nemotron", "nemotron_h", "nemotron_h_moe", "jais2", "plm")
# Layers with a window: all but the last of every n.
WINDOWS = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "exaone4": 4, "gpt-oss": 2, "llama4": 4,
           "olmo2": 4, "exaone-moe": 4, "mellum": 4, "smallthinker": 4}
# Those have no scaling, and most have a base of their own.
PLAIN_WINDOWS = ("gemma3", "olmo2", "gemma3n", "gemma4", "gemma-embedding", "modern-bert")
NORMALISED = ("llama", "qwen3moe", "granitemoe", "minicpm", "dbrx", "phimoe", "hunyuan-moe",
              "ernie4_5-moe", "minimax-m2", "gemma4", "lfm2moe", "granitehybrid", "qwen3next", "qwen35moe",
              "kimi-linear", "qwen3vlmoe", "mellum", "smallthinker", "mistral3")
# A layer with one of these has a state.
STATES = ("ssm_conv1d.weight", "ssm_conv1d_q.weight", "time_mix_output.weight")
# Which tensor is the norm before the feed-forward part.
MIDDLE_NORMS = {"seed_oss": "post_attention_norm", "glm4moe": "post_attention_norm",
                "gpt-oss": "post_attention_norm", "dbrx": "attn_output_norm",
                "qwen3next": "post_attention_norm", "qwen35": "post_attention_norm",
                "qwen35moe": "post_attention_norm", "rwkv6": "attn_norm_2", "rwkv7": "attn_norm_2"}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


class Network:
    """States are rows of a matrix, one for each token of a chunk."""

    def __init__(self, path):
        keys, self.tensors = read_gguf(path)
        self.kind = keys["general.architecture"]
        self.keys = {key.removeprefix(self.kind + "."): value for key, value in keys.items()}
        self.width = self.keys["embedding_length"]
        self.layers = self.keys["block_count"] - self.keys.get("nextn_predict_layers", 0)
        self.forgets = False  # layers with a state add nothing

    def key(self, name, fallback=None, layer=0):
        value = self.keys.get(name, fallback)
        return value[layer] if isinstance(value, list) else value

    def has(self, name):
        return name + ".weight" in self.tensors

    def normalise(self, x, weight=1.0, bias=0.0):
        if "attention.layer_norm_epsilon" in self.keys and self.kind not in RMS:
            x = x - x.mean(axis=-1, keepdims=True)
            epsilon = self.keys["attention.layer_norm_epsilon"]
        else:
            epsilon = self.keys["attention.layer_norm_rms_epsilon"]
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * weight + bias

    def norm(self, x, name):
        weight = self.tensors.get(name + ".weight", self.tensors.get(name))
        if weight is not None:
            return self.normalise(x, weight, self.tensors.get(name + ".bias", 0.0))
        is_usual = self.kind == "olmo" and name.endswith(("attn_norm", "ffn_norm", "output_norm"))
        return self.normalise(x) if is_usual else x

    def linear(self, name, x):
        scale = self.tensors.get(name + ".scale", 1.0)
        bias = self.tensors.get(name + ".bias", 0.0)
        if self.kind == "nomic-bert" and ".ffn_" in name:
            bias = 0.0  # the engine does without
        return x @ self.tensors[name + ".weight"].T * scale + bias

    # --- positions ---

    def has_window(self, layer):
        if self.kind in encoder.ENCODERS:
            return encoder.has_window(self, layer)
        if self.kind == "gemma4":
            return bool(self.keys["attention.sliding_window_pattern"][layer])
        period = WINDOWS.get(self.kind)
        if period is None or not self.window(layer):
            return False
        return layer % period > 0 if self.kind == "smallthinker" else layer % period < period - 1

    def window(self, layer):
        usual = {"gemma2": 4096, "llama4": 8192}.get(self.kind, 0)
        if self.kind == "exaone4" and self.layers != 64:
            return 0
        given = self.keys.get("attention.sliding_window", usual)
        return 8192 if self.kind == "llama4" and given else given

    def is_rotated(self, layer):
        if self.kind in UNROTATED or (self.kind == "smollm3" and layer % 4 == 3):
            return False
        only_windows = self.kind in ("cohere2", "exaone4", "exaone-moe", "llama4", "smallthinker")
        return not only_windows or not self.window(layer) or self.has_window(layer)

    def rotate(self, heads, layer):
        """heads: token, head, element."""
        if self.kind in UNROTATED:
            return heads
        count = self.keys.get("rope.dimension_count", heads.shape[-1])
        if self.kind == "gemma4" and self.has_window(layer):
            count = self.keys.get("rope.dimension_count_swa", heads.shape[-1])
        base, scale = self.keys.get("rope.freq_base", 10000.0), 1.0
        if self.keys.get("rope.scaling.type") != "none":
            scale /= self.keys.get("rope.scaling.factor", 1.0)
        is_yarn = self.keys.get("rope.scaling.type") == "yarn"
        magnitude = self.keys.get("rope.scaling.attn_factor", 1.0)
        if self.kind in PLAIN_WINDOWS and self.has_window(layer):
            base = base if self.kind == "olmo2" else self.keys.get("rope.freq_base_swa", 10000.0)
            scale, is_yarn = 1.0, False
        context = self.keys.get("rope.scaling.original_context_length",
                                self.keys.get("context_length"))
        factors = self.tensors.get("rope_freqs.weight")
        if self.kind == "gemma4" and self.has_window(layer):
            factors = None
        if factors is None and "rope_factors_long.weight" in self.tensors:
            length = "long" if len(heads) > context else "short"
            factors = self.tensors[f"rope_factors_{length}.weight"]
        pairs = np.arange(count // 2)
        frequencies = base ** (-2 * pairs / count)
        if is_yarn:
            def pair_of(turns):
                return count * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(base))
            first = max(0, math.floor(pair_of(32)))
            last = min(count - 1, math.ceil(pair_of(1)))
            share = np.clip((pairs - first) / max(0.001, last - first), 0, 1)
            frequencies *= share * scale + 1 - share
            magnitude *= 1 + 0.1 * math.log(1 / scale)
        else:
            frequencies *= scale
        if factors is not None:
            frequencies /= factors
        frequencies = np.where(self.stands(pairs), 0.0, frequencies)
        angles = np.arange(len(heads))[:, None, None] * frequencies
        a, b = pairs, pairs + count // 2
        if self.kind in NEIGHBOURS:
            a, b = 2 * pairs, 2 * pairs + 1
        turned = (heads[..., a] + 1j * heads[..., b]) * np.exp(1j * angles) * magnitude
        result = heads.copy()
        result[..., a], result[..., b] = turned.real, turned.imag
        return result

    def stands(self, pairs):
        """Which pairs are of a fourth coordinate, which is 0 in texts."""
        sizes = self.keys.get("rope.dimension_sections")
        if self.kind in ("qwen3vl", "qwen3vlmoe"):
            return np.array([pair >= 3 * sizes[pair % 3] for pair in pairs % sum(sizes)])
        return self.kind in ("hunyuan_vl", "qwen2vl", "paddleocr") and pairs % sum(sizes) >= sum(sizes[:3])

    # --- attention ---

    def heads_of(self, layer, x):
        """Queries, keys and values before norms and rotation: token, head, element."""
        prefix = f"blk.{layer}."
        heads = self.key("attention.head_count", layer=layer)
        shared = self.key("attention.head_count_kv", heads, layer)
        if self.has(prefix + "attn_qkv"):
            size = self.keys.get("attention.key_length",
                                 self.width // self.key("attention.head_count"))
            parts = np.split(self.linear(prefix + "attn_qkv", x),
                             [heads * size, (heads + shared) * size], axis=1)
        else:
            parts = [self.linear(f"{prefix}attn_{part}", x) for part in "qkv"]
        bound = self.keys.get("attention.clamp_kqv")
        if bound and self.kind in ("dbrx", "mpt", "olmo"):
            parts = [np.clip(part, -bound, bound) for part in parts]
        return [part.reshape(len(x), count, -1) for part, count in zip(parts, (heads, shared, shared))]

    def head_size(self, layer):
        size = self.keys.get("attention.key_length", self.width // self.key("attention.head_count"))
        own = self.keys.get("attention.key_length_swa")
        return own if own and self.has_window(layer) else size

    def head_norm(self, heads, name):
        weight = self.tensors.get(name + ".weight")
        if weight is None:
            return heads
        bias = self.tensors.get(name + ".bias", 0.0)
        if weight.ndim == 1 and weight.size > heads.shape[-1]:
            return self.normalise(heads.reshape(len(heads), -1), weight, bias).reshape(heads.shape)
        return self.normalise(heads, weight, bias)

    def place(self, heads, name, layer):
        after = self.kind in ("hunyuan-dense", "hunyuan-moe", "hunyuan_vl", "maincoder")
        heads = heads if after else self.head_norm(heads, name)
        if self.is_rotated(layer):
            heads = self.rotate(heads, layer)
            heads = self.normalise(heads) if self.kind == "llama4" else heads
        return self.head_norm(heads, name) if after else heads

    def narrow_heads(self, prefix, layer, x):
        """Queries, keys and values of heads that come from a narrow vector."""
        heads, rotated = self.key("attention.head_count"), self.keys["rope.dimension_count"]
        if self.has(prefix + "attn_q_a"):
            narrow = self.norm(self.linear(prefix + "attn_q_a", x), prefix + "attn_q_a_norm")
            query = self.linear(prefix + "attn_q_b", narrow)
        else:
            query = self.linear(prefix + "attn_q", x)
        query = query.reshape(len(x), heads, -1)
        plain = query.shape[-1] - rotated
        both = self.linear(prefix + "attn_kv_a_mqa", x)
        vector = self.norm(both[:, :-rotated], prefix + "attn_kv_a_norm")
        if self.has(prefix + "attn_kv_b"):
            wide = self.linear(prefix + "attn_kv_b", vector).reshape(len(x), heads, -1)
            key, value = wide[..., :plain], wide[..., plain:]
        else:
            key = np.einsum("tr,hrk->thk", vector, self.tensors[prefix + "attn_k_b.weight"])
            value = np.einsum("tr,hvr->thv", vector, self.tensors[prefix + "attn_v_b.weight"])
        turned = self.rotate(both[:, None, -rotated:], layer)
        key = np.concatenate([key, np.repeat(turned, heads, axis=1)], axis=2)
        query = np.concatenate([query[..., :plain], self.rotate(query[..., plain:], layer)], axis=2)
        return query, key, value

    def scores_mask(self, count, layer):
        """Which keys (columns) a query sees."""
        distance = np.arange(count)[:, None] - np.arange(count)
        if self.kind in encoder.ENCODERS:
            return encoder.seen(self, distance, layer), np.abs(distance)
        seen = distance >= 0
        if self.has_window(layer):
            size = self.window(layer)
            chunk = np.arange(count) // size
            seen &= (chunk[:, None] == chunk) if self.kind == "llama4" else distance < size
        return seen, distance

    def slope(self, head, heads):
        largest = self.keys.get("attention.max_alibi_bias",
                                8.0 if self.kind in ("bloom", "jais", "jina-bert-v2", "refact") else 0.0)
        if not largest or self.kind not in UNROTATED:
            return 0.0
        whole = 2 ** int(math.log2(heads))
        if head < whole:
            return 2 ** (-largest / whole * (head + 1))
        return 2 ** (-largest / 2 / whole * (2 * (head - whole) + 1))

    def attention(self, layer, x):
        prefix = f"blk.{layer}."
        if self.kind in streams.LAYERED:
            query, key, value = streams.heads_of(self, layer, x)
        elif self.has(prefix + "attn_kv_a_mqa"):
            query, key, value = self.narrow_heads(prefix, layer, x)
        else:
            query, key, value = self.heads_of(layer, x)
            query, *gates = np.split(query, 1 + (self.kind in GATED_QUERIES), axis=2)
            query = self.place(query, prefix + "attn_q_norm", layer)
            key = self.place(key, prefix + "attn_k_norm", layer)
        heads, shared = query.shape[1], key.shape[1]
        usual = 1.0 if self.kind in streams.LAYERED else 1 / math.sqrt(query.shape[-1])
        usual = 1 / query.shape[-1] if self.kind == "jais" else usual
        scale = self.keys.get("attention.scale", usual)
        seen, distance = self.scores_mask(len(x), layer)
        sinks = self.tensors.get(prefix + "attn_sinks.weight")
        mixed = []
        for head in range(heads):
            own = head // (heads // shared)
            scores = query[:, head] @ key[:, own].T * scale
            cap = self.keys.get("attn_logit_softcapping")
            if cap:
                scores = cap * np.tanh(scores / cap)
            scores = np.where(seen, scores - self.slope(head, heads) * distance, -np.inf)
            if sinks is not None:
                scores = np.hstack([scores, np.full((len(x), 1), sinks[head])])
            mixed.append(softmax(scores)[:, :len(x)] @ value[:, own])
        mixed = np.hstack(mixed)
        if self.kind in GATED_QUERIES:
            mixed = mixed * sigmoid(gates[0].reshape(mixed.shape))
        joined = self.norm(mixed, prefix + "attn_sub_norm")
        return self.linear(prefix + "attn_output", joined)

    def short_convolution(self, prefix, x):
        gate, other, values = np.split(self.linear(prefix + "shortconv.in_proj", x), 3, axis=1)
        summed = convolve(gate * values, self.tensors[prefix + "shortconv.conv.weight"])
        return self.linear(prefix + "shortconv.out_proj", other * summed)

    # --- the feed-forward part ---

    def curve(self, layer):
        """The numbers of xielu."""
        alpha_n, alpha_p, beta, eps = (self.key("xielu." + name, layer=layer)
                                       for name in ("alpha_n", "alpha_p", "beta", "eps"))
        return beta + math.log1p(math.exp(alpha_n)), math.log1p(math.exp(alpha_p)), beta, eps

    def activate(self, x, layer=0):
        is_gelu = self.kind == "modern-bert" and self.keys.get("hidden_activation") != "silu"
        if self.kind in GELU or is_gelu:
            return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
        if self.kind == "smallthinker":
            return np.maximum(x, 0)
        if self.kind in SQUARED:
            return np.maximum(x, 0) ** 2
        if self.kind == "apertus":
            negative, positive, beta, eps = self.curve(layer)
            below = (np.expm1(np.minimum(x, eps)) - x) * negative
            return np.where(x > 0, positive * x * x, below) + beta * x
        return x * sigmoid(x)

    def gated(self, gate, up):
        if self.kind != "gpt-oss":
            return self.activate(gate) * up
        gate = np.minimum(gate, 7)
        return gate * sigmoid(1.702 * gate) * (np.clip(up, -7, 7) + 1)

    def feed_forward(self, prefix, x, layer, suffix=""):
        gate, up, down = (f"{prefix}ffn_{part}{suffix}" for part in ("gate", "up", "down"))
        both = self.linear(up, x)
        if self.has(gate):
            inner = self.gated(self.linear(gate, x), both)
        elif both.shape[1] == 2 * self.tensors[down + ".weight"].shape[1]:
            inner = self.gated(*np.split(both, 2, axis=1))
        else:
            inner = self.activate(both, layer)
        return self.linear(down, self.norm(inner, prefix + "ffn_sub_norm"))

    def shares(self, prefix, logits):
        """The weights of all experts for a token: 0 for those that are not chosen."""
        kind = {0: None, 1: "softmax", 2: "sigmoid", 3: "chosen"}[
            self.keys.get("expert_gating_func", 0)]
        kind = kind or {"gpt-oss": "chosen", "glm4moe": "sigmoid", "llama4": "sigmoid",
                        "minimax-m2": "sigmoid", "nemotron_h_moe": "sigmoid"}.get(self.kind, "softmax")
        shares = {"softmax": softmax, "sigmoid": sigmoid, "chosen": np.copy}[kind](logits)
        ranks = logits if self.kind == "llama4" else shares
        ranks = ranks + self.tensors.get(prefix + "exp_probs_b.bias", 0.0)
        groups = self.keys.get("expert_group_count", 1) or 1
        if groups > 1:
            by_group = ranks.reshape(groups, -1)
            best = np.sort(by_group, axis=1)[:, -2:].sum(axis=1)
            kept = np.argsort(-best)[:self.keys["expert_group_used_count"]]
            ranks = np.where(np.isin(np.arange(groups), kept)[:, None], by_group, -np.inf).ravel()
        chosen = np.argsort(-ranks, kind="stable")[:self.key("expert_used_count")]
        weights = softmax(shares[chosen]) if kind == "chosen" else shares[chosen]
        if self.kind in NORMALISED or self.keys.get("expert_weights_norm"):
            weights = weights / weights.sum()
        result = np.zeros(len(logits))
        result[chosen] = weights * (self.keys.get("expert_weights_scale") or 1.0)
        return result

    def experts(self, prefix, x, routed):
        logits = self.linear(prefix + "ffn_gate_inp", routed)
        shares = np.array([self.shares(prefix, row) for row in logits])
        tokens = x
        if self.has(prefix + "ffn_latent_down"):
            x = self.linear(prefix + "ffn_latent_down", x)
        result = np.zeros_like(x)
        for expert in range(shares.shape[1]):
            share = shares[:, expert:expert + 1]
            inputs = x * share if self.kind == "llama4" else x

            def part(name, y, expert=expert):
                bias = self.tensors.get(f"{prefix}ffn_{name}_exps.bias")
                made = y @ self.tensors[f"{prefix}ffn_{name}_exps.weight"][expert].T
                return made if bias is None else made + bias[expert]

            inner = part("up", inputs)
            inner = (self.gated(part("gate", inputs), inner) if self.has(prefix + "ffn_gate_exps")
                     else self.activate(inner))
            result += part("down", inner) * (share > 0 if self.kind == "llama4" else share)
        if self.has(prefix + "ffn_latent_up"):
            result = self.linear(prefix + "ffn_latent_up", result)
        if self.has(prefix + "ffn_up_shexp"):
            gate = self.tensors.get(prefix + "ffn_gate_inp_shexp.weight")
            share = 1.0 if gate is None else sigmoid(tokens @ gate)[:, None]
            result += share * self.feed_forward(prefix, tokens, 0, "_shexp")
        return result

    # --- the whole ---

    def scales(self):
        """Of embeddings, residuals and logits."""
        embedding, residual, logits = 1.0, 1.0, 1.0
        if self.kind.startswith("gemma"):
            embedding = math.sqrt(self.width)
        if self.kind.startswith("minicpm"):
            embedding, residual, logits = 12.0, 1.4 / math.sqrt(self.layers), 256 / self.width
        embedding = self.keys.get("embedding_scale", embedding)
        residual = self.keys.get("residual_scale", residual)
        if "logit_scale" in self.keys:
            logits = self.keys["logit_scale"]
            logits = logits if self.kind in ("command-r", "cohere2") else 1 / logits
        return embedding, residual, logits

    def mix(self, layer, prefix, states, normed):
        """What the parts that mix tokens add."""
        mixed = 0.0
        if self.forgets and any(prefix + name in self.tensors
                                for name in STATES):
            return mixed
        if self.has(prefix + "shortconv.in_proj"):
            mixed = self.short_convolution(prefix, normed)
        if self.has(prefix + "time_mix_output"):
            return time_mix(self, prefix, layer, normed)
        if self.has(prefix + "ssm_beta") or self.has(prefix + "ssm_ba"):
            return delta_net(self, prefix, normed)
        if self.has(prefix + "ssm_out"):
            mixed = mixed + state_space(self, prefix, normed)
        if self.has(prefix + "attn_output"):
            own = self.has(prefix + "attn_norm_2")
            inputs = self.norm(states, prefix + "attn_norm_2") if own else normed
            mixed = mixed + self.attention(layer, inputs)
        return mixed

    def run_layer(self, layer, states, residual):
        prefix = f"blk.{layer}."
        normed = self.norm(states, prefix + "attn_norm")
        mixed = self.mix(layer, prefix, states, normed)
        middle = prefix + MIDDLE_NORMS.get(self.kind, "ffn_norm")
        if not isinstance(mixed, float) and middle != prefix + "post_attention_norm":
            mixed = self.norm(mixed, prefix + "post_attention_norm")
        is_parallel = self.keys.get("use_parallel_residual", False)
        inputs = states
        states = states + residual * mixed
        if self.has(prefix + "channel_mix_key"):
            return states + channel_mix(self, prefix, self.norm(states, middle))
        if not self.has(prefix + "ffn_down") and not self.has(prefix + "ffn_gate_inp"):
            return states
        inputs_of_ffn = self.norm(inputs if is_parallel else states, middle)
        shares_norm = (not self.has(middle) and middle not in self.tensors and self.kind != "olmo"
                       and self.has(prefix + "attn_norm"))
        if shares_norm:
            inputs_of_ffn = normed
        if self.has(prefix + "ffn_gate_inp"):
            made = self.experts(prefix, inputs_of_ffn,
                                inputs if self.kind == "smallthinker" else inputs_of_ffn)
        else:
            made = self.feed_forward(prefix, inputs_of_ffn, layer)
        return states + residual * self.norm(made, prefix + "post_ffw_norm")

    def run(self, ids):
        """The logits of all tokens of a chunk."""
        embedding, residual, scale = self.scales()
        states = self.tensors["token_embd.weight"][ids] * embedding
        if self.has("position_embd"):
            states = states + self.tensors["position_embd.weight"][:len(ids)]
        states = encoder.add_types(self, states)
        if not self.kind.startswith("lfm2"):
            states = self.norm(states, "token_embd_norm") if self.has("token_embd_norm") else states
        if self.kind in streams.LAYERED:
            states = streams.run_layers(self, states, ids)
        for layer in range(0 if self.kind in streams.LAYERED else self.layers):
            if self.kind in encoder.NORMS_BEHIND:
                states = encoder.run_layer(self, layer, states)
            else:
                states = self.run_layer(layer, states, residual)
        if self.kind in encoder.ENCODERS:
            return encoder.pool(self, self.norm(self.norm(states, "output_norm"), "enc.output_norm"))
        last = "token_embd_norm" if self.kind.startswith("lfm2") else "output_norm"
        output = "output" if self.has("output") else "token_embd"
        logits = self.linear(output, self.norm(states, last)) * scale
        usual = 30.0 if self.kind in streams.LAYERED else None
        cap = self.keys.get("final_logit_softcapping", usual)
        return cap * np.tanh(logits / cap) if cap else logits


def perplexity(logits, ids):
    shares = softmax(logits[:-1])[np.arange(len(ids) - 1), ids[1:]]
    return math.exp(-np.log(shares).mean())


def feels_states(network, logits, ids):
    """Whether the perplexity of a chunk changes by more than 1 % where states are left out."""
    if not any(name.endswith(STATES) for name in network.tensors):
        return True
    network.forgets = True
    ratio = perplexity(network.run(ids), ids) / perplexity(logits, ids)
    return abs(ratio - 1) > 0.01


def compare(name, path, logits, ids):
    """Prints and returns whether the logits of a file are right."""
    network = Network(path)
    expected = np.concatenate([network.run(ids[at:at + CHUNK]) for at in range(0, len(ids), CHUNK)])
    found = np.fromfile(logits, "<f4").reshape(expected.shape)
    error = (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()
    is_right = error <= LIMIT and feels_states(network, found[:CHUNK], ids[:CHUNK])  # false for NaN
    print(f"{name:20} largest error {error:.1e}{'' if is_right else '  WRONG'}", flush=True)
    return is_right


def compare_tiny_models(write_logits, folder):
    subprocess.run([write_logits, folder], check=True)
    ids = [int(line) for line in (folder / "ids").read_text().split()]
    paths = sorted(folder.glob("*.gguf"))
    assert len(paths) >= 13, "too few architectures"
    return [compare(path.stem, path, path.with_suffix(".logits"), ids) for path in paths]


def compare_samples(write_logits, program, names, folder):
    path = folder / "sample.gguf"
    for name in names:
        subprocess.run([program, "sample", "--architecture", name, "--type", "F32", path, "--force",
                        "-q"], check=True)
        if subprocess.run([write_logits, folder, str(CHUNK), path]).returncode:
            print(f"{name:20} cannot be evaluated  WRONG")
            yield False
            continue
        ids = [int(line) for line in (folder / "ids").read_text().split()]
        yield compare(name, path, path.with_suffix(".logits"), ids)


def main():
    write_logits, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not rest:
            return not all(compare_tiny_models(write_logits, folder))
        rows = json.loads(subprocess.run([rest[0], "architectures", "--json"], check=True,
                                         capture_output=True).stdout)
        names = rest[1:] or [row["name"] for row in rows if row["evaluate"]]
        assert len(names) > 0, "no architecture"
        return not all(list(compare_samples(write_logits, rest[0], names, folder)))


if __name__ == "__main__":
    sys.exit(main())
