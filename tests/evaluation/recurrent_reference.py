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


def shifted(x):
    """What the token before has more."""
    return np.vstack([np.zeros((1, x.shape[1])), x[:-1]]) - x


def low_rank(network, prefix, name, x, curve=lambda y: y, bias=None):
    made = network.linear(f"{prefix}{name}2", curve(network.linear(f"{prefix}{name}1", x)))
    return made if bias is None else made + network.tensors[f"{prefix}{bias}.weight"]


def group_norm(network, x, prefix):
    """Of each head: token, head, element."""
    weight = network.tensors.get(prefix + "time_mix_ln.weight")
    if weight is None:
        return x
    x = x - x.mean(axis=-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 64e-5)
    bias = network.tensors[prefix + "time_mix_ln.bias"]
    return x * weight.reshape(x.shape[1:]) + bias.reshape(x.shape[1:])


def faded_states(network, prefix, x):
    """RWKV 6, and the linear attention that has taken its place in some models."""
    tensors, count, size = network.tensors, len(x), network.keys["wkv.head_size"]
    more = shifted(x)
    mixed = x + more * tensors[prefix + "time_mix_lerp_x.weight"].ravel()
    narrow = np.tanh(network.linear(prefix + "time_mix_w1", mixed)).reshape(count, 5, -1)
    lerp = np.einsum("tir,ifr->tif", narrow, tensors[prefix + "time_mix_w2.weight"])
    lerp = lerp + tensors[prefix + "time_mix_lerp_fused.weight"].reshape(5, -1)
    of_decay, of_key, of_value, of_query, of_gate = (x + more * lerp[:, i] for i in range(5))
    decay = low_rank(network, prefix, "time_mix_decay_w", of_decay, np.tanh, "time_mix_decay")
    gate = network.linear(prefix + "time_mix_gate", of_gate)
    key, value, query, decay = (
        part.reshape(count, -1, size)
        for part in (network.linear(prefix + "time_mix_key", of_key),
                     network.linear(prefix + "time_mix_value", of_value),
                     network.linear(prefix + "time_mix_receptance", of_query),
                     np.exp(-np.exp(decay))))
    heads = query.shape[1]
    key, value = (np.repeat(part, heads // part.shape[1], axis=1) for part in (key, value))
    first = tensors.get(prefix + "time_mix_first.weight")
    if first is None:
        key, query = key * (1 - decay), query / np.sqrt(size)
    state, read = np.zeros((heads, size, size)), []
    for t in range(count):
        new = key[t][:, :, None] * value[t][:, None, :]
        seen = state * decay[t][:, :, None] + new if first is None else (
            state + first.reshape(heads, size, 1) * new)
        read.append(np.einsum("hk,hkv->hv", query[t], seen))
        state = state * decay[t][:, :, None] + new
    read = group_norm(network, np.array(read), prefix).reshape(count, -1)
    gate = sigmoid(gate) if first is None else silu(gate)
    return network.linear(prefix + "time_mix_output", read * gate)


def corrected_states(network, prefix, layer, x):
    """RWKV 7."""
    tensors, count, size = network.tensors, len(x), network.keys["wkv.head_size"]
    more = shifted(x)
    lerp = tensors[prefix + "time_mix_lerp_fused.weight"].reshape(-1, x.shape[1])
    of_query, of_decay, of_key, of_value, of_rate, *of_gate = (x + more * row for row in lerp)
    query = network.linear(prefix + "time_mix_receptance", of_query)
    decay = low_rank(network, prefix, "time_mix_w", of_decay, np.tanh, "time_mix_w0")
    decay = np.exp(-0.606531 * sigmoid(decay))
    key = network.linear(prefix + "time_mix_key", of_key)
    value = network.linear(prefix + "time_mix_value", of_value)
    if layer == 0:
        network.first_value = value
    else:
        share = sigmoid(low_rank(network, prefix, "time_mix_v", of_value, bias="time_mix_v0"))
        value = value + (network.first_value - value) * share
    rate = sigmoid(low_rank(network, prefix, "time_mix_a", of_rate, bias="time_mix_a0"))
    place = (key * tensors[prefix + "time_mix_k_k.weight"]).reshape(count, -1, size)
    place = place / np.maximum(np.sqrt((place * place).sum(axis=-1, keepdims=True)), 1e-12)
    key = key + key * tensors[prefix + "time_mix_k_a.weight"] * (rate - 1)
    query, decay, key, value, rate = (part.reshape(count, -1, size)
                                      for part in (query, decay, key, value, rate))
    heads = query.shape[1]
    state, read = np.zeros((heads, size, size)), []
    for t in range(count):
        wrong = -np.einsum("hk,hkv->hv", place[t], state)
        state = (state * decay[t][:, :, None] + (place[t] * rate[t])[:, :, None] * wrong[:, None, :]
                 + key[t][:, :, None] * value[t][:, None, :])
        read.append(np.einsum("hk,hkv->hv", query[t], state))
    read = group_norm(network, np.array(read), prefix)
    bonus = tensors[prefix + "time_mix_r_k.weight"].reshape(heads, size)
    read = (read + (key * query * bonus).sum(axis=-1, keepdims=True) * value).reshape(count, -1)
    if of_gate and network.has(prefix + "time_mix_g1"):
        read = read * low_rank(network, prefix, "time_mix_g", of_gate[0], sigmoid)
    return network.linear(prefix + "time_mix_output", read)


def time_mix(network, prefix, layer, x):
    if network.has(prefix + "time_mix_k_k"):
        return corrected_states(network, prefix, layer, x)
    return faded_states(network, prefix, x)


def channel_mix(network, prefix, x):
    """The feed-forward part of RWKV."""
    more = shifted(x)
    key = network.tensors[prefix + "channel_mix_lerp_k.weight"].ravel()
    inner = np.maximum(network.linear(prefix + "channel_mix_key", x + more * key), 0) ** 2
    made = network.linear(prefix + "channel_mix_value", inner)
    if not network.has(prefix + "channel_mix_receptance"):
        return made
    gate = network.tensors[prefix + "channel_mix_lerp_r.weight"].ravel()
    return made * sigmoid(network.linear(prefix + "channel_mix_receptance", x + more * gate))
