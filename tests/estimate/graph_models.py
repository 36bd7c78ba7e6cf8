# SPDX-License-Identifier: MIT
"""Headers of small models of each kind of graph, without their data.

A model is its keys and the shapes of its tensors. The file is as long as with data, and sparse.
"""
import os
import struct

LAYERS = 4
WIDTH, INNER, TOKENS = 1024, 2816, 4000
HEADS, KV_HEADS, HEAD = 8, 2, 128
EXPERTS, USED, EXPERT_INNER = 16, 4, 512
STATE_KERNEL, STATE, STATE_INNER, STATE_HEADS = 4, 64, 2 * WIDTH, 32
# Kinds of layers of hybrids; each has those that differ.
HYBRID = "sasa"
F32, F16 = 0, 1
PLAIN = ("ssm_a", "ssm_d", "ssm_conv1d.weight", "ssm_norm.weight", "shortconv.conv.weight")


class GraphModel:
    """Keys without the architecture's prefix, and shapes of tensors, the width of a row first."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.tensors = {"token_embd.weight": [WIDTH, TOKENS]}
        self.keys = {"block_count": LAYERS, "context_length": 32768, "embedding_length": WIDTH,
                     "vocab_size": TOKENS}

    def add(self, layer, suffix=".weight", **shapes):
        for name, shape in shapes.items():
            self.tensors[f"blk.{layer}.{name}{suffix}"] = shape

    def norms(self, layer, *names):
        self.add(layer, **{name: [WIDTH] for name in names})

    def biases(self, layer, **widths):
        self.add(layer, ".bias", **{name: [width] for name, width in widths.items()})

    def use_heads(self, heads=HEADS, kv_heads=KV_HEADS, head=HEAD):
        self.keys.update({"attention.head_count": heads, "attention.head_count_kv": kv_heads,
                          "attention.key_length": head, "attention.value_length": head,
                          "rope.dimension_count": head, "feed_forward_length": INNER,
                          "attention.layer_norm_rms_epsilon": 1e-5})

    def use_layer_norms(self):
        del self.keys["attention.layer_norm_rms_epsilon"]
        self.keys["attention.layer_norm_epsilon"] = 1e-5

    def attention(self, layer, query_norms=False, query_copies=1, kv_heads=KV_HEADS, heads=HEADS,
                  head=HEAD):
        self.add(layer, attn_q=[WIDTH, query_copies * heads * head], attn_k=[WIDTH, kv_heads * head],
                 attn_v=[WIDTH, kv_heads * head], attn_output=[heads * head, WIDTH])
        if query_norms:
            self.add(layer, attn_q_norm=[head], attn_k_norm=[head])

    def network(self, layer, has_gate=True, up=INNER):
        self.add(layer, ffn_up=[WIDTH, up], ffn_down=[INNER, WIDTH])
        if has_gate:
            self.add(layer, ffn_gate=[WIDTH, INNER])

    def use_experts(self, **keys):
        self.keys.update({"expert_count": EXPERTS, "expert_used_count": USED,
                          "expert_feed_forward_length": EXPERT_INNER, **keys})

    def experts(self, layer, has_gate=True, shared=0, inner=EXPERT_INNER):
        self.add(layer, ffn_gate_inp=[WIDTH, EXPERTS], ffn_up_exps=[WIDTH, inner, EXPERTS],
                 ffn_down_exps=[inner, WIDTH, EXPERTS])
        if has_gate:
            self.add(layer, ffn_gate_exps=[WIDTH, inner, EXPERTS])
        if shared:
            self.add(layer, ffn_up_shexp=[WIDTH, shared], ffn_down_shexp=[shared, WIDTH],
                     ffn_gate_shexp=[WIDTH, shared])

    def use_states(self, groups, rank=STATE_HEADS, size=STATE, inner=STATE_INNER):
        self.keys.update({"ssm.conv_kernel": STATE_KERNEL, "ssm.inner_size": inner,
                          "ssm.state_size": size, "ssm.time_step_rank": rank,
                          "ssm.group_count": groups})

    def mamba(self, layer, has_norms=False, rank=64):
        self.add(layer, ssm_in=[WIDTH, 2 * STATE_INNER], ssm_conv1d=[STATE_KERNEL, STATE_INNER],
                 ssm_x=[STATE_INNER, rank + 2 * STATE], ssm_dt=[rank, STATE_INNER],
                 ssm_out=[STATE_INNER, WIDTH])
        self.biases(layer, ssm_conv1d=STATE_INNER, ssm_dt=STATE_INNER)
        self.add(layer, "", ssm_a=[STATE, STATE_INNER], ssm_d=[STATE_INNER])
        if has_norms:
            self.add(layer, ssm_dt_norm=[rank], ssm_b_norm=[STATE], ssm_c_norm=[STATE])

    def mamba2(self, layer, groups=1, has_norm=True):
        width = STATE_INNER + 2 * groups * STATE
        self.add(layer, ssm_in=[WIDTH, STATE_INNER + width + STATE_HEADS],
                 ssm_conv1d=[STATE_KERNEL, width], ssm_out=[STATE_INNER, WIDTH])
        self.biases(layer, ssm_conv1d=width, ssm_dt=STATE_HEADS)
        self.add(layer, "", ssm_a=[1, STATE_HEADS], ssm_d=[1, STATE_HEADS])
        if has_norm:
            self.add(layer, ssm_norm=[STATE_INNER // groups, groups])

    def write(self, path):
        """The header, then nothing up to the end of the data."""
        keys = {"general.architecture": self.architecture, "tokenizer.ggml.model": "none"}
        for key, value in self.keys.items():
            keys[key if key.startswith("tokenizer.") else f"{self.architecture}.{key}"] = value
        self.tensors.setdefault("output_norm.weight", [WIDTH])
        self.tensors = {name: shape for name, shape in self.tensors.items() if shape}
        header = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(keys))
        for key, value in keys.items():
            header += text(key) + typed(value)
        at = 0
        for name, shape in self.tensors.items():
            element = F32 if len(shape) == 1 or name.endswith(PLAIN) else F16
            header += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, element, at)
            size = 4 if element == F32 else 2
            for count in shape:
                size *= count
            at += -(-size // 32) * 32
        path.write_bytes(header)
        os.truncate(path, -(-len(header) // 32) * 32 + at)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def typed(value):
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    return struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)


def ordinary(architecture, query_norms=False, with_experts=False):
    model = GraphModel(architecture)
    model.use_heads()
    if with_experts:
        model.use_experts()
    for layer in range(LAYERS):
        model.norms(layer, "attn_norm", "ffn_norm")
        model.attention(layer, query_norms)
        if with_experts:
            model.experts(layer)
        else:
            model.network(layer)
    return model


def fused(architecture, has_gate):
    model = GraphModel(architecture)
    model.use_heads(kv_heads=KV_HEADS if has_gate else HEADS)
    groups = KV_HEADS if has_gate else HEADS
    for layer in range(LAYERS):
        model.norms(layer, "attn_norm", "ffn_norm")
        model.add(layer, attn_qkv=[WIDTH, (HEADS + 2 * groups) * HEAD],
                  attn_output=[HEADS * HEAD, WIDTH])
        model.network(layer, False, 2 * INNER if has_gate else INNER)
    return model


def gpt2():
    model = fused("gpt2", False)
    model.use_layer_norms()
    model.tensors["position_embd.weight"] = [WIDTH, 32768]
    model.tensors["output_norm.bias"] = [WIDTH]
    for layer in range(LAYERS):
        model.biases(layer, attn_norm=WIDTH, ffn_norm=WIDTH, attn_qkv=3 * WIDTH, attn_output=WIDTH,
                     ffn_up=INNER, ffn_down=WIDTH)
    return model


def windows(architecture, query_norms):
    model = ordinary(architecture, query_norms)
    model.keys["attention.sliding_window"] = 512
    model.keys["block_count"] = 8
    for layer in range(8):
        model.norms(layer, "attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm")
        model.attention(layer, query_norms)
        model.network(layer)
    return model


def latent(architecture, is_absorbed):
    rank, rope, plain, value, query_rank = 256, 32, 64, 64, 384
    model = GraphModel(architecture)
    model.use_heads(kv_heads=1 if is_absorbed else HEADS)
    model.keys.update({"attention.kv_lora_rank": rank, "attention.q_lora_rank": query_rank,
                       "rope.dimension_count": rope, "attention.key_length": plain + rope,
                       "attention.value_length": value})
    if is_absorbed:
        model.keys.update({"attention.key_length": rank + rope, "attention.value_length": rank,
                           "attention.key_length_mla": plain + rope,
                           "attention.value_length_mla": value})
    if architecture == "deepseek2":
        model.use_experts(leading_dense_block_count=1, expert_shared_count=1, expert_gating_func=1,
                          expert_weights_scale=1.0)
    for layer in range(LAYERS):
        model.norms(layer, "attn_norm", "ffn_norm")
        model.add(layer, attn_q_a=[WIDTH, query_rank], attn_q_a_norm=[query_rank],
                  attn_q_b=[query_rank, HEADS * (plain + rope)],
                  attn_kv_a_mqa=[WIDTH, rank + rope], attn_kv_a_norm=[rank],
                  attn_output=[HEADS * value, WIDTH])
        if is_absorbed:
            model.add(layer, attn_k_b=[plain, rank, HEADS], attn_v_b=[rank, value, HEADS])
        else:
            model.add(layer, attn_kv_b=[rank, HEADS * (plain + value)])
        if architecture == "deepseek2" and layer > 0:
            model.experts(layer, shared=EXPERT_INNER)
        else:
            model.network(layer)
    return model


def states(architecture):
    model = GraphModel(architecture)
    is_first = architecture == "mamba"
    model.use_states(0 if is_first else 1, 64 if is_first else STATE_HEADS)
    model.keys.update({"attention.layer_norm_rms_epsilon": 1e-5, "attention.head_count": 0,
                       "feed_forward_length": 0})
    for layer in range(LAYERS):
        model.norms(layer, "attn_norm")
        if is_first:
            model.mamba(layer)
        else:
            model.mamba2(layer)
    return model


def hybrid(architecture, kinds=HYBRID, **keys):
    """Layers with a state (s), with attention (a), or with a network alone (f)."""
    model = GraphModel(architecture)
    model.use_heads()
    model.keys.update({"attention.head_count_kv": [KV_HEADS * (kind == "a") for kind in kinds], **keys})
    first = architecture == "jamba"
    if architecture == "lfm2":
        model.keys["shortconv.l_cache"] = 3
        model.tensors.update({"token_embd_norm.weight": [WIDTH], "output_norm.weight": None})
    else:
        model.use_states(0 if first else 1, 64 if first else STATE_HEADS)
    for layer, kind in enumerate(kinds):
        model.norms(layer, "attn_norm")
        if kind == "a":
            model.attention(layer, query_norms=architecture == "lfm2")
        elif architecture == "lfm2" and kind == "s":
            model.add(layer, **{"shortconv.conv": [3, WIDTH], "shortconv.in_proj": [WIDTH, 3 * WIDTH],
                                "shortconv.out_proj": [WIDTH, WIDTH]})
        elif first:
            model.mamba(layer, has_norms=True)
        elif kind == "s":
            model.mamba2(layer)
        if "f" in kinds:
            if kind == "f":
                model.network(layer, False)
            continue
        model.norms(layer, "ffn_norm")
        model.network(layer)
    if "f" in kinds:
        model.keys["feed_forward_length"] = [INNER * (kind == "f") for kind in kinds]
        model.keys["attention.layer_norm_epsilon"] = 1e-5
    return model


def plamo2():
    model = GraphModel("plamo2")
    model.use_heads()
    model.use_states(0)
    model.keys.update({"attention.head_count": [HEADS * (kind == "a") for kind in HYBRID],
                       "attention.head_count_kv": [KV_HEADS * (kind == "a") for kind in HYBRID]})
    rank = 64
    for layer, kind in enumerate(HYBRID):
        model.norms(layer, "attn_norm", "ffn_norm")
        model.add(layer, "", post_attention_norm=[WIDTH], post_ffw_norm=[WIDTH])
        model.network(layer, False, 2 * INNER)
        if kind == "a":
            model.add(layer, attn_qkv=[WIDTH, (HEADS + 2 * KV_HEADS) * HEAD],
                      attn_q_norm=[HEAD, HEADS], attn_k_norm=[HEAD, KV_HEADS],
                      attn_output=[HEADS * HEAD, WIDTH])
            continue
        model.add(layer, ssm_in=[WIDTH, 2 * STATE_INNER], ssm_conv1d=[STATE_KERNEL, STATE_INNER],
                  ssm_x=[STATE_INNER, rank + 2 * STATE], ssm_dt=[rank, STATE_HEADS],
                  ssm_out=[STATE_INNER, WIDTH])
        model.biases(layer, ssm_dt=STATE_HEADS)
        model.add(layer, "", ssm_a=[STATE_HEADS], ssm_d=[STATE_HEADS], ssm_dt_norm=[rank],
                  ssm_b_norm=[STATE], ssm_c_norm=[STATE])
    return model


def falcon_h1():
    model = ordinary("falcon-h1")
    model.use_states(1)
    for layer in range(LAYERS):
        model.mamba2(layer, has_norm=layer % 2 == 1)
        model.tensors[f"blk.{layer}.ffn_norm"] = model.tensors.pop(f"blk.{layer}.ffn_norm.weight")
    return model


def delta_net(architecture, is_old=False):
    groups, heads, size = 8, 16, 128
    keys, values = groups * size, heads * size
    model = GraphModel(architecture)
    model.use_heads()
    model.use_states(groups, heads, size, values)
    if architecture == "qwen35":
        model.keys["rope.dimension_sections"] = [11, 11, 10, 0]
    else:
        model.use_experts(expert_shared_feed_forward_length=EXPERT_INNER)
    for layer in range(LAYERS):
        model.norms(layer, "attn_norm", "post_attention_norm")
        if architecture == "qwen35":
            model.network(layer)
        else:
            model.experts(layer, shared=EXPERT_INNER)
            model.add(layer, ffn_gate_inp_shexp=[WIDTH])
        if layer == LAYERS - 1:
            model.attention(layer, query_norms=True, query_copies=2)
            continue
        model.add(layer, ssm_conv1d=[STATE_KERNEL, 2 * keys + values], ssm_norm=[size],
                  ssm_out=[values, WIDTH])
        model.biases(layer, ssm_dt=heads)
        model.add(layer, "", ssm_a=[heads])
        if architecture == "qwen35":
            model.add(layer, ssm_alpha=[WIDTH, heads], ssm_beta=[WIDTH, heads])
        else:
            model.add(layer, ssm_ba=[WIDTH, 2 * heads])
        if is_old:
            model.add(layer, ssm_in=[WIDTH, 2 * keys + 2 * values])
        else:
            model.add(layer, attn_qkv=[WIDTH, 2 * keys + values], attn_gate=[WIDTH, values])
    return model


def encoder(architecture):
    head = 64
    model = GraphModel(architecture)
    model.use_heads(WIDTH // head, WIDTH // head, head)
    model.use_layer_norms()
    model.keys.update({"attention.causal": False, "pooling_type": 1,
                       "tokenizer.ggml.token_type_count": 2})
    model.tensors.update({"token_embd_norm.weight": [WIDTH], "token_embd_norm.bias": [WIDTH],
                          "token_types.weight": [WIDTH, 2], "output_norm.weight": None})
    if architecture == "bert":
        model.tensors["position_embd.weight"] = [WIDTH, 32768]
    for layer in range(LAYERS):
        model.norms(layer, "attn_output_norm", "layer_output_norm")
        model.biases(layer, attn_output_norm=WIDTH, layer_output_norm=WIDTH)
        model.add(layer, attn_output=[WIDTH, WIDTH])
        if architecture == "nomic-bert":
            model.add(layer, attn_qkv=[WIDTH, 3 * WIDTH])
        else:
            model.add(layer, attn_q=[WIDTH, WIDTH], attn_k=[WIDTH, WIDTH], attn_v=[WIDTH, WIDTH])
            model.biases(layer, attn_q=WIDTH, attn_k=WIDTH, attn_v=WIDTH, attn_output=WIDTH)
        model.network(layer, has_gate=architecture != "bert")
        if architecture == "bert":
            model.biases(layer, ffn_up=INNER, ffn_down=WIDTH)
        if architecture == "jina-bert-v2":
            model.biases(layer, ffn_down=WIDTH)
    return model


def modern_bert():
    model = fused("modern-bert", False)
    model.use_layer_norms()
    model.tensors["token_embd_norm.weight"] = [WIDTH]
    model.tensors.pop("blk.0.attn_norm.weight")
    model.keys.update({"attention.causal": False, "attention.sliding_window": 128,
                       "attention.sliding_window_pattern": 3, "rope.freq_base": 160000.0,
                       "rope.freq_base_swa": 10000.0})
    for layer in range(LAYERS):
        model.network(layer, False, 2 * INNER)
    return model


def smallthinker():
    model = ordinary("smallthinker", with_experts=True)
    model.keys.update({"attention.sliding_window": 4096, "expert_gating_func": 2, "block_count": 6})
    for layer in range(LAYERS, 6):
        model.norms(layer, "attn_norm", "ffn_norm")
        model.attention(layer)
        model.experts(layer)
    return model


def no_cache(architecture):
    model = ordinary(architecture)
    model.keys["attention.causal"] = False
    return model


MODELS = {
    "llama": lambda: ordinary("llama"),
    "qwen3moe": lambda: ordinary("qwen3moe", query_norms=True, with_experts=True),
    "phi3": lambda: fused("phi3", True),
    "gpt2": gpt2,
    "gemma2": lambda: windows("gemma2", False),
    "gemma3": lambda: windows("gemma3", True),
    "smallthinker": smallthinker,
    "deepseek2": lambda: latent("deepseek2", True),
    "deepseek2-old": lambda: latent("deepseek2", False),
    "minicpm3": lambda: latent("minicpm3", False),
    "mamba": lambda: states("mamba"),
    "mamba2": lambda: states("mamba2"),
    "jamba": lambda: hybrid("jamba"),
    "granitehybrid": lambda: hybrid("granitehybrid"),
    "nemotron_h": lambda: hybrid("nemotron_h", "saf" + "s"),
    "lfm2": lambda: hybrid("lfm2"),
    "plamo2": plamo2,
    "falcon-h1": falcon_h1,
    "qwen3next": lambda: delta_net("qwen3next"),
    "qwen3next-old": lambda: delta_net("qwen3next", is_old=True),
    "qwen35": lambda: delta_net("qwen35"),
    "bert": lambda: encoder("bert"),
    "nomic-bert": lambda: encoder("nomic-bert"),
    "jina-bert-v2": lambda: encoder("jina-bert-v2"),
    "modern-bert": modern_bert,
    "llada": lambda: no_cache("llada"),
}

# As options of the program.
OPTIONS = [
    {},
    {"ctx-size": 16384, "ubatch-size": 128},
    {"ctx-size": 1000, "ubatch-size": 2048},
    {"flash-attn": "off"},
    {"parallel": 3},
    {"parallel": 4, "kv-unified": True, "flash-attn": "off"},
    {"cache-type-k": "q8_0", "cache-type-v": "q8_0"},
    {"cache-type-k": "f32", "cache-type-v": "f32"},
]


def write_models(folder):
    """Name -> path."""
    paths = {}
    for name, make in MODELS.items():
        paths[name] = folder / f"{name}.gguf"
        make().write(paths[name])
    return paths
