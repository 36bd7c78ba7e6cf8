# SPDX-License-Identifier: MIT
"""Encoders of reference.py: no mask, norms behind the sums, one vector for a text; in float64."""
import numpy as np

NORMS_BEHIND = ("bert", "jina-bert-v2", "jina-bert-v3", "nomic-bert", "nomic-bert-moe")
ENCODERS = (*NORMS_BEHIND, "modern-bert", "neo-bert", "eurobert", "gemma-embedding", "llama-embed")
UNROTATED_ENCODERS = ("bert", "jina-bert-v2")
GELU_ENCODERS = ("bert", "jina-bert-v2", "jina-bert-v3", "nomic-bert-moe", "gemma-embedding")


def is_causal(network):
    return network.kind != "gemma-embedding" and network.keys.get("attention.causal", True)


def has_window(network, layer):
    if not network.keys.get("attention.sliding_window"):
        return False
    if network.kind == "modern-bert":
        period = network.keys.get("attention.sliding_window_pattern", 3)
        return bool(period[layer]) if isinstance(period, list) else layer % period != 0
    return network.kind == "gemma-embedding" and layer % 6 < 5


def seen(network, distance, layer):
    """Which keys (columns) a query sees."""
    if is_causal(network):
        return distance >= 0
    if has_window(network, layer):
        return np.abs(distance) <= network.keys["attention.sliding_window"] // 2
    return np.full(distance.shape, True)


def run_layer(network, layer, states):
    """A layer whose norms are those of its sums."""
    prefix = f"blk.{layer}."
    middle = network.norm(states + network.attention(layer, states), prefix + "attn_output_norm")
    if network.has(prefix + "attn_norm_2"):
        middle = network.norm(middle + states, prefix + "attn_norm_2")
    if network.has(prefix + "ffn_gate_inp"):
        made = network.experts(prefix, middle, middle)
    else:
        made = network.feed_forward(prefix, middle, layer)
    return network.norm(middle + made, prefix + "layer_output_norm")


def add_types(network, states):
    kinds = network.tensors.get("token_types.weight")
    return states if kinds is None else states + np.atleast_2d(kinds)[0]


def pool(network, states):
    """The vector of a text, or of each token."""
    kind = network.keys.get("pooling_type", 0)
    if kind == 1:
        states = states.mean(axis=0)[None]
    elif kind == 3:
        states = states[-1:]
    elif kind:
        states = states[:1]
    for name in ("dense_2", "dense_3"):
        if network.has(name):
            states = network.linear(name, states)
    return states
