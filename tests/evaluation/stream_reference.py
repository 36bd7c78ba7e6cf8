# SPDX-License-Identifier: MIT
"""Gemma 3n and 4 of reference.py: inputs of layers, streams of states, shared keys; in float64."""
import math

import numpy as np

LAYERED = ("gemma3n", "gemma4")


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def layer_inputs(network, states, ids):
    """token, layer, feature"""
    size = len(network.tensors["per_layer_proj_norm.weight"])
    shape = (len(ids), network.layers, size)
    made = network.linear("per_layer_model_proj", states).reshape(shape) / math.sqrt(network.width)
    made = network.norm(made, "per_layer_proj_norm")
    rows = network.tensors["per_layer_token_embd.weight"][ids].reshape(shape) * math.sqrt(size)
    return (made + rows) / math.sqrt(2)


def add_input(network, prefix, x, own):
    made = gelu(network.linear(prefix + "inp_gate", x)) * own
    return network.norm(network.linear(prefix + "proj", made), prefix + "post_norm")


def as_long(stream, first):
    return stream * (np.linalg.norm(first, axis=1) / np.linalg.norm(stream, axis=1))[:, None]


def own_layers(network):
    if network.kind == "gemma3n":
        return 20
    return network.layers - network.keys.get("attention.shared_kv_layers", 0)


def keys_and_values(network, layer, x):
    """Those of the layer, or of the last one of its kind that has its own."""
    prefix, own = f"blk.{layer}.", own_layers(network)
    if layer >= own:
        return network.kept[own - (2 if network.has_window(layer) else 1)]
    size = network.head_size(layer)
    key = network.linear(prefix + "attn_k", x).reshape(len(x), -1, size)
    value = key
    if network.has(prefix + "attn_v"):
        value = network.linear(prefix + "attn_v", x).reshape(len(x), -1, size)
    key = network.rotate(network.head_norm(key, prefix + "attn_k_norm"), layer)
    network.kept[layer] = key, network.normalise(value)
    return network.kept[layer]


def heads_of(network, layer, x):
    prefix = f"blk.{layer}."
    query = network.linear(prefix + "attn_q", x).reshape(len(x), -1, network.head_size(layer))
    query = network.rotate(network.head_norm(query, prefix + "attn_q_norm"), layer)
    return query, *keys_and_values(network, layer, x)


def largest(gate):
    deviation = gate.std(axis=1, ddof=1, keepdims=True)
    return np.maximum(gate - gate.mean(axis=1, keepdims=True) - 1.6448533535003662 * deviation, 0)


def feed_forward(network, prefix, layer, x):
    gate = network.linear(prefix + "ffn_gate", x)
    if network.kind == "gemma3n" and layer < 10:
        gate = largest(gate)
    return network.linear(prefix + "ffn_down", gelu(gate) * network.linear(prefix + "ffn_up", x))


def feed(network, prefix, layer, x):
    """The feed-forward part, with experts beside it where a layer has them."""
    made = feed_forward(network, prefix, layer, network.norm(x, prefix + "ffn_norm"))
    if network.has(prefix + "ffn_gate_inp"):
        made = network.norm(made, prefix + "post_ffw_norm_1")
        routed = network.normalise(x) / math.sqrt(network.width)
        routed = routed * network.tensors[prefix + "ffn_gate_inp.scale"]
        logits = routed @ network.tensors[prefix + "ffn_gate_inp.weight"].T
        inputs = network.norm(x, prefix + "pre_ffw_norm_2")
        chosen = np.zeros_like(made)
        scales = network.tensors.get(prefix + "ffn_down_exps.scale", np.ones(logits.shape[1]))
        shares = np.array([network.shares(prefix, row) for row in logits])
        for expert, scale in enumerate(scales):
            if network.has(prefix + "ffn_gate_up_exps"):
                both = network.tensors[prefix + "ffn_gate_up_exps.weight"][expert]
                gate, up = np.split(inputs @ both.T, 2, axis=1)
            else:
                gate, up = (inputs @ network.tensors[f"{prefix}ffn_{part}_exps.weight"][expert].T
                            for part in ("gate", "up"))
            down = network.tensors[prefix + "ffn_down_exps.weight"][expert]
            chosen += shares[:, expert:expert + 1] * scale * ((gelu(gate) * up) @ down.T)
        made = made + network.norm(chosen, prefix + "post_ffw_norm_2")
    return network.norm(made, prefix + "post_ffw_norm")


def attend(network, prefix, layer, x):
    mixed = network.attention(layer, network.norm(x, prefix + "attn_norm"))
    return network.norm(mixed, prefix + "post_attention_norm")


def run_layer(network, layer, states, own):
    prefix = f"blk.{layer}."
    states = states + attend(network, prefix, layer, states)
    states = states + feed(network, prefix, layer, states)
    if own is not None:
        states = states + add_input(network, prefix, states, own[:, layer])
    return states * network.tensors.get(prefix + "layer_output_scale.weight", 1.0)


def route(network, prefix, x):
    routed = network.norm(x, prefix + "altup_router_norm") / network.width
    return np.tanh(network.linear(prefix + "altup_router", routed))


def run_streams(network, layer, streams, own):
    """streams: stream, token, feature"""
    prefix, count = f"blk.{layer}.", len(streams)
    factors = network.linear(prefix + "altup_predict_coef", route(network, prefix, streams[0]))
    factors = factors.reshape(-1, count, count)
    predicted = streams + np.einsum("tij,jtf->itf", factors, streams)
    normed = network.norm(predicted[0], prefix + "attn_norm")
    side = network.linear(prefix + "laurel_r", network.linear(prefix + "laurel_l", normed))
    side = network.norm(side, prefix + "laurel_post_norm") + normed
    middle = (attend(network, prefix, layer, predicted[0]) + predicted[0] + side) / math.sqrt(2)
    made = middle + feed(network, prefix, layer, middle)
    factors = network.linear(prefix + "altup_correct_coef", route(network, prefix, made)) + 1
    corrected = predicted + factors.T[:, :, None] * (made - predicted[0])
    first = corrected[0] * network.tensors[prefix + "altup_correct_scale.weight"]
    corrected[1:] += add_input(network, prefix, first, own[:, layer])
    return corrected


def run_layers(network, states, ids):
    network.kept = {}
    own = None
    if network.has("per_layer_token_embd"):
        own = layer_inputs(network, states, ids)
    if network.kind == "gemma4":
        for layer in range(network.layers):
            states = run_layer(network, layer, states, own)
        return states
    others = [as_long(states @ part.T, states) for part in network.tensors["altup_proj.weight"]]
    streams = np.array([states, *others])
    for layer in range(network.layers):
        streams = run_streams(network, layer, streams, own)
    merged = [as_long(stream @ part.T, streams[0])
              for stream, part in zip(streams[1:], network.tensors["altup_unembd_proj.weight"])]
    return (streams[0] + sum(merged)) / len(streams)
