#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""reference.py WRITE_LOGITS: the forward pass a second time, token by token in float64.

Runs WRITE_LOGITS, which writes tiny models of all architectures with the logits that the library
computes, and compares those with its own. It shares no code with the library: the reader of GGUF is
its own, too, and heads, positions and experts are plain loops.
"""
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
        return data[at - size:at].decode()

    keys = {}
    for _ in range(key_count):
        name, kind = text(), take("I")
        keys[name] = text() if kind == 8 else take({4: "I", 6: "f"}[kind])
    infos = []
    for _ in range(tensor_count):
        name = text()
        shape = [take("Q") for _ in range(take("I"))]
        assert take("I") == 0
        infos.append((name, shape, take("Q")))
    begin = (at + 31) // 32 * 32
    tensors = {name: np.frombuffer(data, "<f4", math.prod(shape), begin + offset)
               .reshape(shape[::-1]).astype(np.float64) for name, shape, offset in infos}
    return keys, tensors


class Network:
    def __init__(self, path):
        keys, self.tensors = read_gguf(path)
        self.kind = keys["general.architecture"]
        self.keys = {key.removeprefix(self.kind + "."): value for key, value in keys.items()}
        self.width = self.keys["embedding_length"]
        self.heads = self.keys["attention.head_count"]
        self.kv_heads = self.keys["attention.head_count_kv"]
        self.size = self.keys.get("attention.key_length", self.width // self.heads)

    def norm(self, x, name):
        if name + ".weight" not in self.tensors:
            return x
        weight = self.tensors[name + ".weight"]
        if self.kind == "stablelm":
            x = x - x.mean()
            y = x / np.sqrt((x * x).mean() + self.keys["attention.layer_norm_epsilon"])
        else:
            y = x / np.sqrt((x * x).mean() + self.keys["attention.layer_norm_rms_epsilon"])
        return y * weight + self.tensors.get(name + ".bias", 0.0)

    def head_norm(self, x, name, heads):
        """x: all heads, one after the other."""
        weight = self.tensors.get(name + ".weight")
        if weight is None:
            return x.reshape(heads, self.size)
        if self.kind == "olmo2":
            return self.norm(x, name).reshape(heads, self.size)
        x = x.reshape(heads, self.size).copy()
        for head in range(heads):
            part = x[head]
            if self.kind == "stablelm":
                part = part - part.mean()
                epsilon = self.keys["attention.layer_norm_epsilon"]
            else:
                epsilon = self.keys["attention.layer_norm_rms_epsilon"]
            row = weight[head] if weight.ndim == 2 else weight
            x[head] = part / np.sqrt((part * part).mean() + epsilon) * row
        return x

    def has_window(self, layer):
        if self.kind == "gemma2":
            return layer % 2 == 0
        return self.kind == "gemma3" and layer % 6 < 5

    def rotate(self, heads, position, layer):
        if self.kind == "smollm3" and layer % 4 == 3:
            return heads
        count = self.keys.get("rope.dimension_count", self.size)
        base, scale = self.keys["rope.freq_base"], 1.0 / self.keys.get("rope.scaling.factor", 1.0)
        if self.kind == "gemma3" and self.has_window(layer):
            base, scale = 10000.0, 1.0
        factors = self.tensors.get("rope_freqs.weight")
        if factors is None and "rope_factors_long.weight" in self.tensors:
            is_long = CHUNK > self.keys["rope.scaling.original_context_length"]
            factors = self.tensors["rope_factors_long.weight" if is_long else "rope_factors_short.weight"]
        magnitude = self.keys.get("rope.scaling.attn_factor", 1.0)
        result = heads.copy()
        for pair in range(count // 2):
            angle = position * scale * base ** (-2 * pair / count)
            if factors is not None:
                angle /= factors[pair]
            if self.kind in ("llama", "smollm3", "granite"):
                a, b = 2 * pair, 2 * pair + 1
            else:
                a, b = pair, pair + count // 2
            turned = (heads[:, a] + 1j * heads[:, b]) * np.exp(1j * angle) * magnitude
            result[:, a], result[:, b] = turned.real, turned.imag
        return result

    def linear(self, name, x):
        return self.tensors[name + ".weight"] @ x + self.tensors.get(name + ".bias", 0.0)

    def project(self, layer, x):
        prefix = f"blk.{layer}."
        if prefix + "attn_qkv.weight" in self.tensors:
            query, key = self.heads * self.size, self.kv_heads * self.size
            return np.split(self.linear(prefix + "attn_qkv", x), [query, query + key])
        return [self.linear(prefix + "attn_" + part, x) for part in "qkv"]

    def attention(self, layer, inputs):
        """inputs: of all tokens of a chunk; returns the outputs of all."""
        prefix = f"blk.{layer}."
        queries, keys, values, outputs = [], [], [], []
        for position, x in enumerate(inputs):
            query, key, value = self.project(layer, x)
            query = self.head_norm(query, prefix + "attn_q_norm", self.heads)
            key = self.head_norm(key, prefix + "attn_k_norm", self.kv_heads)
            queries.append(self.rotate(query, position, layer))
            keys.append(self.rotate(key, position, layer))
            values.append(value.reshape(self.kv_heads, self.size))
        scale = self.keys.get("attention.scale", 1 / math.sqrt(self.size))
        for position, query in enumerate(queries):
            first = 0
            if self.has_window(layer):
                first = max(0, position - self.keys["attention.sliding_window"] + 1)
            mixed = []
            for head in range(self.heads):
                shared = head // (self.heads // self.kv_heads)
                scores = np.array([query[head] @ keys[t][shared] for t in range(first, position + 1)])
                scores *= scale
                cap = self.keys.get("attn_logit_softcapping")
                if cap:
                    scores = cap * np.tanh(scores / cap)
                weights = np.exp(scores - scores.max())
                weights /= weights.sum()
                mixed.append(sum(w * values[first + i][shared] for i, w in enumerate(weights)))
            outputs.append(self.linear(prefix + "attn_output", np.concatenate(mixed)))
        return outputs

    def activate(self, x):
        if self.kind.startswith("gemma"):
            return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
        return x / (1 + np.exp(-x))

    def feed_forward(self, layer, x):
        prefix = f"blk.{layer}."
        if prefix + "ffn_gate_inp.weight" in self.tensors:
            return self.experts(prefix, x)
        if self.kind == "phi3":
            gate, up = np.split(self.linear(prefix + "ffn_up", x), 2)
        else:
            gate, up = self.linear(prefix + "ffn_gate", x), self.linear(prefix + "ffn_up", x)
        return self.linear(prefix + "ffn_down", self.activate(gate) * up)

    def experts(self, prefix, x):
        logits = self.linear(prefix + "ffn_gate_inp", x)
        shares = np.exp(logits) / np.exp(logits).sum()
        chosen = np.argsort(-shares)[:self.keys["expert_used_count"]]
        total = shares[chosen].sum() if self.kind != "qwen2moe" else 1.0
        gates, ups, downs = (self.tensors[f"{prefix}ffn_{part}_exps.weight"]
                             for part in ("gate", "up", "down"))
        result = sum(shares[e] / total * (downs[e] @ (self.activate(gates[e] @ x) * (ups[e] @ x)))
                     for e in chosen)
        if self.kind == "qwen2moe":
            gate = self.linear(prefix + "ffn_gate_shexp", x)
            up = self.linear(prefix + "ffn_up_shexp", x)
            share = 1 / (1 + math.exp(-(self.tensors[prefix + "ffn_gate_inp_shexp.weight"] @ x)))
            result = result + share * self.linear(prefix + "ffn_down_shexp", self.activate(gate) * up)
        return result

    def run(self, ids):
        """The logits of all tokens of a chunk."""
        scale = self.keys.get("embedding_scale", 1.0)
        if self.kind.startswith("gemma"):
            scale = math.sqrt(self.width)
        states = [self.tensors["token_embd.weight"][i] * scale for i in ids]
        residual = self.keys.get("residual_scale", 1.0)
        for layer in range(self.keys["block_count"]):
            prefix = f"blk.{layer}."
            normed = [self.norm(x, prefix + "attn_norm") for x in states]
            mixed = self.attention(layer, normed)
            for t, x in enumerate(states):
                x = x + residual * self.norm(mixed[t], prefix + "post_attention_norm")
                has_norm = prefix + "ffn_norm.weight" in self.tensors
                inputs = self.norm(x, prefix + "ffn_norm")
                if self.kind == "stablelm" and not has_norm:
                    inputs = normed[t]
                y = self.norm(self.feed_forward(layer, inputs), prefix + "post_ffw_norm")
                states[t] = x + residual * y
        output = "output" if "output.weight" in self.tensors else "token_embd"
        logits = np.array([self.linear(output, self.norm(x, "output_norm")) for x in states])
        logits /= self.keys.get("logit_scale", 1.0)
        cap = self.keys.get("final_logit_softcapping")
        return cap * np.tanh(logits / cap) if cap else logits


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        folder = pathlib.Path(folder)
        ids = [int(line) for line in (folder / "ids").read_text().split()]
        paths = sorted(folder.glob("*.gguf"))
        assert len(paths) >= 13, "too few architectures"
        for path in paths:
            network = Network(path)
            expected = np.concatenate([network.run(ids[at:at + CHUNK])
                                       for at in range(0, len(ids), CHUNK)])
            found = np.fromfile(path.with_suffix(".logits"), "<f4").reshape(expected.shape)
            error = (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()
            is_right = error <= LIMIT  # false for NaN
            print(f"{path.stem:20} largest error {error:.1e}{'' if is_right else '  WRONG'}")
            failed |= not is_right
    return failed


if __name__ == "__main__":
    sys.exit(main())
