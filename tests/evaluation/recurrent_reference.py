# SPDX-License-Identifier: MIT
"""Recurrent parts of reference.py: token by token, in float64."""
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return np.logaddexp(0, x)


def convolve(x, kernel, bias=0.0):
    """A sum over the last tokens, for each feature (a row of the kernel) its own."""
    kernel = kernel.reshape(x.shape[1], -1)
    taps = kernel.shape[1]
    padded = np.vstack([np.zeros((taps - 1, x.shape[1])), x])
    return sum(padded[i:i + len(x)] * kernel[:, i] for i in range(taps)) + bias


def rms(network, x, weight=1.0):
    epsilon = network.keys["attention.layer_norm_rms_epsilon"]
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * weight


def plain_norm(network, x, name):
    """Of steps, inputs and outputs, which have norms in some models."""
    for name in (name, name + ".weight"):
        if name in network.tensors:
            return rms(network, x, network.tensors[name])
    return rms(network, x) if network.keys.get("ssm.dt_b_c_rms") else x


def state_space(network, prefix, x):
    """The layer of Mamba 1 (steps come from a narrow vector) and 2 (heads have equal steps)."""
    tensors, count = network.tensors, len(x)
    skip = tensors[prefix + "ssm_d"].ravel()
    heads, inner = len(skip), tensors[prefix + "ssm_out.weight"].shape[1]
    size, states = inner // heads, network.keys["ssm.state_size"]
    both = network.linear(prefix + "ssm_in", x)
    if network.kind == "plamo2":
        both = both.reshape(count, heads, 2, size)
        gate, value = both[:, :, 0].reshape(count, inner), both[:, :, 1].reshape(count, inner)
    elif network.has(prefix + "ssm_x"):
        value, gate = np.split(both, 2, axis=1)
    else:
        gate, value, step = np.split(both, [inner, both.shape[1] - heads], axis=1)
    value = silu(convolve(value, tensors[prefix + "ssm_conv1d.weight"],
                          tensors.get(prefix + "ssm_conv1d.bias", 0.0)))
    groups = 1
    if network.has(prefix + "ssm_x"):
        mixed = network.linear(prefix + "ssm_x", value)
        rank = mixed.shape[1] - 2 * states
        if network.kind == "plamo2":
            mixed = np.hstack([mixed[:, 2 * states:], mixed[:, :2 * states]])
        step, into, out = np.split(mixed, [rank, rank + states], axis=1)
        step = network.linear(prefix + "ssm_dt", plain_norm(network, step, prefix + "ssm_dt_norm"))
        into = plain_norm(network, into, prefix + "ssm_b_norm")
        out = plain_norm(network, out, prefix + "ssm_c_norm")
    else:
        groups = network.keys["ssm.group_count"]
        value, into, out = np.split(value, [inner, inner + groups * states], axis=1)
        step = step + tensors[prefix + "ssm_dt.bias"]
    step = softplus(step)
    decay = tensors[prefix + "ssm_a"].reshape(heads, 1, -1)
    value = value.reshape(count, heads, size)
    into, out = (np.repeat(part.reshape(count, groups, states), heads // groups, axis=1)
                 for part in (into, out))
    state, read = np.zeros((heads, size, states)), []
    for t in range(count):
        state = state * np.exp(step[t][:, None, None] * decay)
        state += (step[t][:, None] * value[t])[:, :, None] * into[t][:, None, :]
        read.append(np.einsum("hvs,hs->hv", state, out[t]) + value[t] * skip[:, None])
    gated = np.array(read).reshape(count, inner) * silu(gate)
    norm = tensors.get(prefix + "ssm_norm.weight")
    if norm is not None:
        gated = rms(network, gated.reshape(count, groups, -1), norm).reshape(count, inner)
    return network.linear(prefix + "ssm_out", gated)


def unit_length(network, x):
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return x / np.maximum(length, network.keys["attention.layer_norm_rms_epsilon"])


def delta_inputs(network, prefix, x, size, keys, heads):
    """Queries, keys and values before the convolution, and gates."""
    count, share = len(x), heads // keys
    if network.has(prefix + "ssm_in"):
        fused = network.linear(prefix + "ssm_in", x).reshape(count, keys, -1)
        parts = np.split(fused, np.cumsum([size, size, share * size]), axis=2)
        *mixed, gate = (part.reshape(count, -1) for part in parts)
        return np.hstack(mixed), gate
    if network.has(prefix + "attn_qkv"):
        return network.linear(prefix + "attn_qkv", x), network.linear(prefix + "attn_gate", x)
    gate = network.linear(prefix + "ssm_g_b", network.linear(prefix + "ssm_g_a", x))
    return np.hstack([network.linear(f"{prefix}attn_{part}", x) for part in "qkv"]), gate


def delta_rates(network, prefix, x, keys, heads):
    """Strengths and decays before their curves."""
    if network.has(prefix + "ssm_ba"):
        both = network.linear(prefix + "ssm_ba", x).reshape(len(x), keys, 2, heads // keys)
        return both[:, :, 0].reshape(len(x), heads), both[:, :, 1].reshape(len(x), heads)
    strength = network.linear(prefix + "ssm_beta", x)
    if network.has(prefix + "ssm_alpha"):
        return strength, network.linear(prefix + "ssm_alpha", x)
    return strength, network.linear(prefix + "ssm_f_b", network.linear(prefix + "ssm_f_a", x))


def delta_net(network, prefix, x):
    """The gated delta rule: a head's state is corrected towards the value at the key."""
    tensors, count, is_kimi = network.tensors, len(x), network.kind == "kimi-linear"
    norm = tensors[prefix + "ssm_norm.weight"]
    out = prefix + ("attn_output" if is_kimi else "ssm_out")
    size = len(norm)
    heads = tensors[out + ".weight"].shape[1] // size
    keys = heads if is_kimi else network.keys["ssm.group_count"]
    mixed, gate = delta_inputs(network, prefix, x, size, keys, heads)
    kernels = [tensors[f"{prefix}ssm_conv1d{end}.weight"]
               for end in (("_q", "_k", "_v") if is_kimi else ("",))]
    kernel = np.vstack([kernel.reshape(-1, kernel.shape[-1]) for kernel in kernels])
    mixed = silu(convolve(mixed, kernel))
    query, key, value = (part.reshape(count, -1, size)
                         for part in np.split(mixed, [keys * size, 2 * keys * size], axis=1))
    own = np.arange(heads) % keys if network.kind.startswith("qwen35") else (
        np.arange(heads) // (heads // keys))
    query, key = (unit_length(network, part)[:, own] for part in (query, key))
    strength, decay = delta_rates(network, prefix, x, keys, heads)
    decay = softplus(decay + tensors[prefix + "ssm_dt.bias"]).reshape(count, heads, -1)
    decay = np.exp(decay * tensors[prefix + "ssm_a"].reshape(heads, 1))
    state, read = np.zeros((heads, size, size)), []
    for t in range(count):
        state = state * decay[t][:, :, None]
        wrong = value[t] - np.einsum("hk,hkv->hv", key[t], state)
        state += key[t][:, :, None] * (sigmoid(strength[t])[:, None] * wrong)[:, None, :]
        read.append(np.einsum("hk,hkv->hv", query[t], state) / np.sqrt(size))
    read = rms(network, np.array(read), norm).reshape(count, -1)
    return network.linear(out, read * (sigmoid(gate) if is_kimi else silu(gate)))
