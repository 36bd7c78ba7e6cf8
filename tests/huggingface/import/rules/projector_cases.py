# SPDX-License-Identifier: MIT
"""Tiny folders of classes with a projector, and what becomes of them, read from llama.cpp's converter a second time."""
import numpy as np

TEXT = 8  # The width of the text model.
MEAN, DEVIATION = [0.5, 0.25, 0.125], [0.5, 0.5, 0.25]
SINE_POSITIONS = 1500


def sines(width):
    """Sines, then cosines, of positions times frequencies that fall from 1 to 1/10000."""
    step = np.float32(-np.log(10000.0) / (width // 2 - 1))
    frequencies = np.exp((step * np.arange(width // 2, dtype=np.float32)).astype(np.float64)).astype(np.float32)
    angles = np.arange(SINE_POSITIONS, dtype=np.float32)[:, None] * frequencies
    return np.concatenate([np.sin(angles.astype(np.float64)), np.cos(angles.astype(np.float64))], 1).astype(np.float32)


class Case:
    """A folder, the keys after those of every projector, and the tensors that are expected, each with the name of the
    last one that it is made of, whose order counts."""

    def __init__(self, name, config, preprocessor=None):
        self.name, self.config, self.preprocessor = name, {"architectures": [name], **config}, preprocessor
        self.random = np.random.RandomState(len(name))
        self.folder, self.expected, self.keys = [], [], []
        self.of_reference = {}  # What the converter writes instead, where that does not work.

    def give(self, name, *shape):
        """A tensor of the folder."""
        numbers = (self.random.rand(*shape) + 0.25).astype(np.float32)
        self.folder.append((name, "F32", numbers))
        return numbers

    def want(self, name, numbers, kind=None):
        """A tensor of the result; `kind`: its type if that does not follow from its name."""
        self.expected.append((self.folder[-1][0] if self.folder else "", name, numbers, kind))

    def pair(self, source, name, *shape, kind=None):
        self.want(name, self.give(source, *shape), kind)

    def norm(self, source, name, width):
        for part in ("weight", "bias"):
            self.pair(f"{source}.{part}", f"{name}.{part}", width)

    def linear(self, source, name, rows, columns, bias=True):
        self.pair(f"{source}.weight", f"{name}.weight", rows, columns)
        if bias:
            self.pair(f"{source}.bias", f"{name}.bias", rows)

    def drop(self, name, *shape):
        self.give(name, *shape)

    def vision(self, side, patch, width, inner, layers, heads, mean=None, deviation=None):
        self.keys += [("has_vision_encoder", "bool", True), ("vision.projection_dim", "u32", TEXT),
                      ("vision.image_size", "u32", side), ("vision.patch_size", "u32", patch),
                      ("vision.embedding_length", "u32", width), ("vision.feed_forward_length", "u32", inner),
                      ("vision.block_count", "u32", layers), ("vision.attention.head_count", "u32", heads),
                      ("vision.image_mean", "[f32]", mean or MEAN),
                      ("vision.image_std", "[f32]", deviation or DEVIATION)]

    def audio(self, width, inner, layers, heads):
        self.keys += [("has_audio_encoder", "bool", True), ("audio.projection_dim", "u32", TEXT),
                      ("audio.embedding_length", "u32", width), ("audio.feed_forward_length", "u32", inner),
                      ("audio.block_count", "u32", layers), ("audio.attention.head_count", "u32", heads)]

    def more(self, *keys):
        self.keys += keys


def preprocessor(**members):
    return {"image_mean": MEAN, "image_std": DEVIATION, **members}


def whisper_layers(case, source, layers, width, inner):
    for layer in range(layers):
        old, new = f"{source}.layers.{layer}", f"a.blk.{layer}"
        for part, to in (("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
                         ("self_attn.out_proj", "attn_out")):
            case.linear(f"{old}.{part}", f"{new}.{to}", width, width, bias=part[10] != "k")
        case.norm(f"{old}.self_attn_layer_norm", f"{new}.ln1", width)
        case.linear(f"{old}.fc1", f"{new}.ffn_up", inner, width)
        case.linear(f"{old}.fc2", f"{new}.ffn_down", width, inner)
        case.norm(f"{old}.final_layer_norm", f"{new}.ln2", width)


def whisper_ends(case, source, width, bins, post):
    for conv, columns in ((1, bins), (2, width)):
        case.pair(f"{source}.conv{conv}.weight", f"a.conv1d.{conv}.weight", width, columns, 3, kind="F16")
        case.want(f"a.conv1d.{conv}.bias", case.give(f"{source}.conv{conv}.bias", width)[:, None])
    case.pair(f"{source}.embed_positions.weight", "a.position_embd.weight", 12, width, kind="F32")
    case.norm(f"{source}.{post}", "a.post_ln", width)


def gemma3n():
    width, heard, bins, stem = 16, 16, 8, 4
    case = Case("Gemma3nForConditionalGeneration",
                {"text_config": {"hidden_size": TEXT}, "vision_config": {"hidden_size": width},
                 "audio_config": {"hidden_size": heard, "conf_num_hidden_layers": 2, "conf_num_attention_heads": 4,
                                  "input_feat_size": bins}},
                preprocessor(size={"height": 512, "width": 512}, image_seq_length=256))
    case.vision(512, 2, width, 8192, 128, 8, [0.0] * 3, [1.0] * 3)
    case.audio(heard, 6144, 2, 4)
    case.more(("vision.projector_type", "str", "gemma3nv"), ("vision.attention.layer_norm_epsilon", "f32", 1e-6),
              ("audio.projector_type", "str", "gemma3na"), ("audio.num_mel_bins", "u32", bins),
              ("audio.attention.layer_norm_epsilon", "f32", 1e-5))
    tower = "model.vision_tower.timm_model"
    case.pair(f"{tower}.conv_stem.conv.weight", "v.conv_stem.conv.weight", stem, 3, 3, 3, kind="F32")
    case.want("v.conv_stem.conv.bias", case.give(f"{tower}.conv_stem.conv.bias", stem).reshape(1, stem, 1, 1))
    case.pair(f"{tower}.conv_stem.bn.weight", "v.conv_stem.bn.weight", stem)
    blocks = {"0.0": {"conv_exp": (8, stem, 3, 3), "bn1": (8,), "conv_pwl": (6, 8, 1, 1), "bn2": (6,)},
              "1.0": {"dw_start.conv": (6, 1, 3, 3), "dw_start.bn": (6,), "pw_exp.conv": (8, 6, 1, 1),
                      "pw_exp.bn": (8,), "dw_mid.conv": (8, 1, 5, 5), "dw_mid.bn": (8,),
                      "pw_proj.conv": (6, 8, 1, 1), "pw_proj.bn": (6,), "layer_scale": (6,)},
              "2.0": {"pw_exp.conv": (8, 6, 1, 1), "pw_proj.conv": (6, 8, 1, 1)},
              "2.11": {"norm": (6,), "attn.query.proj": (8, 6, 1, 1), "attn.key.down_conv": (6, 1, 3, 3),
                       "attn.key.norm": (6,), "attn.key.proj": (4, 6, 1, 1), "attn.value.down_conv": (6, 1, 3, 3),
                       "attn.value.norm": (6,), "attn.value.proj": (4, 6, 1, 1), "attn.output.proj": (6, 8, 1, 1),
                       "layer_scale": (6,)},
              "3.0": {"pw_exp.conv": (8, 6, 1, 1), "pw_proj.conv": (6, 8, 1, 1)}}
    for block, parts in blocks.items():
        for part, shape in parts.items():
            if part == "layer_scale":  # The engine multiplies maps by it.
                numbers = case.give(f"{tower}.blocks.{block}.layer_scale.gamma", *shape)
                case.want(f"v.blk.{block}.layer_scale.gamma", numbers.reshape(1, -1, 1, 1))
                case.of_reference[f"v.blk.{block}.layer_scale.gamma"] = numbers
            else:
                case.pair(f"{tower}.blocks.{block}.{part}.weight", f"v.blk.{block}.{part}.weight", *shape)
    for part, shape in (("ffn.pw_exp.conv", (16, 12, 1, 1)), ("ffn.pw_exp.bn", (16,)),
                        ("ffn.pw_proj.conv", (width, 16, 1, 1)), ("ffn.pw_proj.bn", (width,)), ("norm", (width,))):
        case.pair(f"{tower}.msfa.{part}.weight", f"v.msfa.{part}.weight", *shape)
    for eye, source, size in (("mm", "model.embed_vision", width), ("mm.a", "model.embed_audio", heard)):
        case.linear(f"{source}.embedding", f"{eye}.embedding", 4, size, bias=False)
        case.pair(f"{source}.hard_embedding_norm.weight", f"{eye}.hard_emb_norm.weight", size)
        case.pair(f"{source}.soft_embedding_norm.weight", f"{eye}.soft_emb_norm.weight", size)
        case.linear(f"{source}.embedding_projection", f"{eye}.input_projection", TEXT, size, bias=False)
    case.drop("model.language_model.norm.weight", TEXT)
    sounds = "model.audio_tower.subsample_conv_projection"
    for conv, maps, before in ((0, 4, 1), (1, 2, 4)):
        case.pair(f"{sounds}.conv_{conv}.conv.weight", f"a.conv1d.{conv}.weight", maps, before, 3, 3, kind="F32")
        case.pair(f"{sounds}.conv_{conv}.norm.weight", f"a.conv1d.{conv}.norm.weight", maps)
    case.pair(f"{sounds}.input_proj_linear.weight", "a.pre_encode.out.weight", heard, 4, kind="F16")
    for layer in range(2):
        old, new = f"model.audio_tower.conformer.{layer}", f"a.blk.{layer}"
        for part, to in (("attention.pre_attn_norm", "ln1"), ("attention.post_norm", "ln2"), ("norm", "layer_pre_norm"),
                         ("lconv1d.pre_layer_norm", "conv_norm"), ("lconv1d.conv_norm", "norm_conv"),
                         ("ffw_layer_start.pre_layer_norm", "ffn_norm"), ("ffw_layer_end.pre_layer_norm", "ffn_norm_1"),
                         ("ffw_layer_start.post_layer_norm", "ffn_post_norm"),
                         ("ffw_layer_end.post_layer_norm", "ffn_post_norm_1")):
            case.pair(f"{old}.{part}.weight", f"{new}.{to}.weight", heard)
        case.pair(f"{old}.attention.attn.per_dim_scale", f"{new}.per_dim_scale", heard // 4)
        for part, to, rows, columns in (
                ("attention.attn.q_proj", "attn_q", heard, heard), ("attention.attn.k_proj", "attn_k", heard, heard),
                ("attention.attn.v_proj", "attn_v", heard, heard), ("attention.post", "attn_out", heard, heard),
                ("attention.attn.relative_position_embedding.pos_proj", "linear_pos", heard, heard),
                ("ffw_layer_start.ffw_layer_1", "ffn_up", 24, heard),
                ("ffw_layer_start.ffw_layer_2", "ffn_down", heard, 24),
                ("ffw_layer_end.ffw_layer_1", "ffn_up_1", 24, heard),
                ("ffw_layer_end.ffw_layer_2", "ffn_down_1", heard, 24),
                ("lconv1d.linear_start", "conv_pw1", 2 * heard, heard),
                ("lconv1d.linear_end", "conv_pw2", heard, heard)):
            case.linear(f"{old}.{part}", f"{new}.{to}", rows, columns, bias=False)
        case.pair(f"{old}.lconv1d.depthwise_conv1d.weight", f"{new}.conv_dw.weight", heard, 1, 5, kind="F32")
    return case


def qwen3_sound(case, width, inner, layers):
    case.expected.append(("", "a.position_embd.weight", sines(width), "F32"))
    tower = "thinker.audio_tower"
    for conv, before in ((1, 1), (2, 4), (3, 4)):
        case.pair(f"{tower}.conv2d{conv}.weight", f"a.conv2d.{conv}.weight", 4, before, 3, 3, kind="F16")
        case.want(f"a.conv2d.{conv}.bias", case.give(f"{tower}.conv2d{conv}.bias", 4)[:, None, None])
    case.pair(f"{tower}.conv_out.weight", "a.conv_out.weight", width, 8, kind="F16")
    whisper_layers(case, tower, layers, width, inner)
    case.norm(f"{tower}.ln_post", "a.post_ln", width)
    for part in (1, 2):
        case.linear(f"{tower}.proj{part}", f"mm.a.mlp.{part}", TEXT if part == 2 else width, width)


def qwen3_audio_config(**members):
    return {"d_model": 16, "encoder_ffn_dim": 24, "encoder_attention_heads": 4, "encoder_layers": 4,
            "num_mel_bins": 16, **members}


def qwen3_omni():
    width, inner = 8, 12
    case = Case("Qwen3OmniMoeForConditionalGeneration",
                {"thinker_config": {"text_config": {"hidden_size": TEXT, "rms_norm_eps": 2e-6},
                                    "vision_config": {"hidden_size": width, "intermediate_size": inner, "depth": 3,
                                                      "num_heads": 2, "patch_size": 4, "num_position_embeddings": 16,
                                                      "spatial_merge_size": 2, "deepstack_visual_indexes": [0, 2]},
                                    "audio_config": qwen3_audio_config()}}, preprocessor())
    case.vision(16, 4, width, inner, 3, 2)
    case.audio(16, 24, 4, 4)
    case.more(("audio.num_mel_bins", "u32", 16), ("audio.attention.layer_norm_epsilon", "f32", 1e-5),
              ("use_gelu", "bool", True), ("vision.spatial_merge_size", "u32", 2),
              ("vision.attention.layer_norm_epsilon", "f32", 2e-6),
              ("vision.is_deepstack_layers", "[bool]", [True, False, True]),
              ("vision.projector_type", "str", "qwen3vl_merger"), ("audio.projector_type", "str", "qwen3a"))
    qwen3_sound(case, 16, 24, 4)
    case.drop("thinker.model.norm.weight", TEXT)
    tower = "thinker.visual"
    patches = case.give(f"{tower}.patch_embed.proj.weight", width, 3, 2, 4, 4)
    case.want("v.patch_embd.weight", patches[:, :, 0], "patches")
    case.want("v.patch_embd.weight.1", patches[:, :, 1], "patches")
    case.pair(f"{tower}.patch_embed.proj.bias", "v.patch_embd.bias", width)
    case.pair(f"{tower}.pos_embed.weight", "v.position_embd.weight", 16, width, kind="F32")
    for layer in range(3):
        old, new = f"{tower}.blocks.{layer}", f"v.blk.{layer}"
        case.norm(f"{old}.norm1", f"{new}.ln1", width)
        case.linear(f"{old}.attn.qkv", f"{new}.attn_qkv", 3 * width, width)
        case.linear(f"{old}.attn.proj", f"{new}.attn_out", width, width)
        case.norm(f"{old}.norm2", f"{new}.ln2", width)
        case.linear(f"{old}.mlp.linear_fc1", f"{new}.ffn_up", inner, width)
        case.linear(f"{old}.mlp.linear_fc2", f"{new}.ffn_down", width, inner)
    for old, norm, first, second, size in (("merger", "v.post_ln", "mm.0", "mm.2", width),
                                           *((f"merger_list.{i}", *(f"v.deepstack.{layer}.{part}" for part in
                                                                    ("norm", "fc1", "fc2")), 4 * width)
                                             for i, layer in enumerate((0, 2)))):
        case.norm(f"{tower}.{old}.ln_q", norm, size)
        case.linear(f"{tower}.{old}.mlp.0", first, 4 * width, 4 * width)
        case.linear(f"{tower}.{old}.mlp.2", second, TEXT, 4 * width)
    return case


def qwen3_asr():
    case = Case("Qwen3ASRForConditionalGeneration",
                {"thinker_config": {"text_config": {"hidden_size": TEXT}, "audio_config": qwen3_audio_config()}})
    case.audio(16, 24, 4, 4)
    case.more(("audio.num_mel_bins", "u32", 16), ("audio.attention.layer_norm_epsilon", "f32", 1e-5),
              ("audio.projector_type", "str", "qwen3a"))
    case.drop("thinker.model.norm.weight", TEXT)
    qwen3_sound(case, 16, 24, 4)
    return case


def gemma4_unified():
    width, side = 6, 6
    case = Case("Gemma4UnifiedForConditionalGeneration",
                {"text_config": {"hidden_size": TEXT},
                 "vision_config": {"mm_embed_dim": width, "patch_size": 2, "pooling_kernel_size": 3},
                 "audio_config": {"audio_embed_dim": 640, "input_feat_size": 64}}, preprocessor())
    case.vision(224, 2, width, 0, 0, 0)
    case.audio(640, 0, 0, 0)
    case.more(("vision.projector_type", "str", "gemma4uv"), ("vision.attention.layer_norm_epsilon", "f32", 1e-6),
              ("audio.projector_type", "str", "gemma4ua"), ("audio.num_mel_bins", "u32", 64),
              ("audio.attention.layer_norm_epsilon", "f32", 1e-6))
    source, area = "model.vision_embedder", side * side
    # The colours of a pixel lie together in the folder, the pixels of a colour in the result.
    order = [pixel * 3 + colour for colour in range(3) for pixel in range(area)]
    case.want("v.patch_embd.weight", case.give(f"{source}.patch_dense.weight", width, 3 * area)[:, order], "patches")
    case.pair(f"{source}.patch_dense.bias", "v.patch_embd.bias", width)
    for part in ("weight", "bias"):
        case.want(f"v.patch_norm.1.{part}", case.give(f"{source}.patch_ln1.{part}", 3 * area)[order])
    case.norm(f"{source}.patch_ln2", "v.patch_norm.2", width)
    case.norm(f"{source}.pos_norm", "v.patch_norm.3", width)
    case.want("v.position_embd.weight", case.give(f"{source}.pos_embedding", 5, 2, width).swapaxes(0, 1), "F32")
    case.linear("model.embed_vision.embedding_projection", "mm.input_projection", TEXT, width, bias=False)
    case.linear("model.embed_audio.embedding_projection", "mm.a.input_projection", TEXT, 640, bias=False)
    case.drop("model.language_model.norm.weight", TEXT)
    return case


def lfm2_audio():
    width, maps, layers = 16, 4, 7
    case = Case("Lfm2AudioForConditionalGeneration",
                {"lfm": {"hidden_size": TEXT},
                 "encoder": {"d_model": width, "n_heads": 2, "n_layers": layers, "feat_in": 16}})
    case.audio(width, width, layers, 2)
    case.more(("projector_type", "str", "lfm2a"), ("audio.num_mel_bins", "u32", 16),
              ("audio.attention.layer_norm_epsilon", "f32", 1e-5))
    for conv, before, size in ((0, 1, 3), (2, 1, 3), (3, maps, 1), (5, 1, 3), (6, maps, 1)):
        case.pair(f"conformer.pre_encode.conv.{conv}.weight", f"a.conv1d.{conv}.weight", maps, before, size, size,
                  kind="F32")
        case.want(f"a.conv1d.{conv}.bias", case.give(f"conformer.pre_encode.conv.{conv}.bias", maps)[:, None, None])
    case.linear("conformer.pre_encode.out", "a.pre_encode.out", width, 2 * maps)
    for layer in range(layers):
        old, new = f"conformer.layers.{layer}", f"a.blk.{layer}"
        for part, to in (("norm_feed_forward1", "ffn_norm"), ("norm_feed_forward2", "ffn_norm_1"),
                         ("norm_self_att", "ln1"), ("norm_out", "ln2"), ("norm_conv", "norm_conv")):
            case.norm(f"{old}.{part}", f"{new}.{to}", width)
        for ffn, end in (("feed_forward1", ""), ("feed_forward2", "_1")):
            case.linear(f"{old}.{ffn}.linear1", f"{new}.ffn_up{end}", 24, width)
            case.linear(f"{old}.{ffn}.linear2", f"{new}.ffn_down{end}", width, 24)
        for part, to in (("q", "attn_q"), ("k", "attn_k"), ("v", "attn_v"), ("out", "attn_out")):
            case.linear(f"{old}.self_attn.linear_{part}", f"{new}.{to}", width, width)
        case.linear(f"{old}.self_attn.linear_pos", f"{new}.linear_pos", width, 512, bias=False)
        for part in ("pos_bias_u", "pos_bias_v"):
            case.pair(f"{old}.self_attn.{part}", f"{new}.{part}", 2, width // 2)
        for part, to, shape, axis in (("pointwise_conv1", "conv_pw1", (2 * width, width, 1), 2),
                                      ("depthwise_conv", "conv_dw", (width, 1, 9), 1),
                                      ("pointwise_conv2", "conv_pw2", (width, width, 1), 2)):
            case.want(f"{new}.{to}.weight", case.give(f"{old}.conv.{part}.weight", *shape).squeeze(axis), "F32")
            case.pair(f"{old}.conv.{part}.bias", f"{new}.{to}.bias", shape[0])
        case.folder.append((f"{old}.conv.batch_norm.num_batches_tracked", "I64", np.array(3, np.int64)))
        bias, mean, variance, weight = (case.give(f"{old}.conv.batch_norm.{part}", width) for part in
                                        ("bias", "running_mean", "running_var", "weight"))
        factor = weight / np.sqrt(variance + np.float32(1e-5))
        case.want(f"{new}.conv_norm.weight", factor)
        case.want(f"{new}.conv_norm.bias", bias - mean * factor)
    case.norm("audio_adapter.model.0", "mm.a.mlp.0", width)
    case.linear("audio_adapter.model.1", "mm.a.mlp.1", 24, width)
    case.linear("audio_adapter.model.3", "mm.a.mlp.3", TEXT, 24)
    case.pair("audio_embedding.embedding.weight", "a.position_embd.weight", 20, TEXT, kind="F32")
    case.pair("audio_embedding.embedding_norm.weight", "a.position_embd_norm.weight", TEXT)
    case.linear("audio_embedding.to_logits", "a.embd_to_logits", 20, TEXT, bias=False)
    for name in ("lfm.embedding_norm.weight", "codebook_offsets", "depth_linear.bias", "audio_loss_weights"):
        case.drop(name, TEXT)
    return case


def janus():
    width, inner = 8, 20
    case = Case("JanusForConditionalGeneration",
                {"text_config": {"hidden_size": TEXT},
                 "vision_config": {"hidden_size": width, "mlp_ratio": 2.5, "num_hidden_layers": 2, "image_size": 8,
                                   "num_attention_heads": 2, "patch_size": 4, "hidden_act": "gelu"}}, preprocessor())
    case.vision(8, 4, width, inner, 2, 2)
    case.more(("projector_type", "str", "janus_pro"), ("vision.attention.layer_norm_epsilon", "f32", 1e-6),
              ("use_gelu", "bool", True))
    tower = "model.vision_model"
    case.pair(f"{tower}.embeddings.patch_embedding.weight", "v.patch_embd.weight", width, 3, 4, 4, kind="patches")
    case.pair(f"{tower}.embeddings.patch_embedding.bias", "v.patch_embd.bias", width)
    case.pair(f"{tower}.embeddings.position_embedding.weight", "v.position_embd.weight", 4, width, kind="F32")
    for layer in range(2):
        old, new = f"{tower}.encoder.layers.{layer}", f"v.blk.{layer}"
        case.norm(f"{old}.layer_norm1", f"{new}.ln1", width)
        for part, to in (("q_proj", "attn_q"), ("k_proj", "attn_k"), ("v_proj", "attn_v"),
                         ("projection_layer", "attn_out")):
            case.linear(f"{old}.self_attn.{part}", f"{new}.{to}", width, width)
        case.norm(f"{old}.layer_norm2", f"{new}.ln2", width)
        case.linear(f"{old}.mlp.fc1", f"{new}.ffn_up", inner, width)
        case.linear(f"{old}.mlp.fc2", f"{new}.ffn_down", width, inner)
    case.norm(f"{tower}.post_layernorm", "v.post_ln", width)
    case.linear("model.aligner.fc1", "mm.0", TEXT, width)
    case.linear("model.aligner.hidden_layers.0", "mm.1", TEXT, TEXT)
    for name in ("model.language_model.norm.weight", "model.generation_head.vision_head.bias", "model.vqmodel.x.bias"):
        case.drop(name, TEXT)
    return case


def meralion():
    width, inner, layers = 8, 12, 3
    case = Case("MERaLiON2ForConditionalGeneration",
                {"text_config": {"hidden_size": TEXT}, "speech_mlp_scale_factor": 3,
                 "speech_config": {"d_model": width, "encoder_ffn_dim": inner, "encoder_attention_heads": 2,
                                   "encoder_layers": layers, "num_mel_bins": 16}})
    case.audio(width, inner, layers, 2)
    case.more(("projector_type", "str", "meralion"), ("audio.num_mel_bins", "u32", 16),
              ("audio.attention.layer_norm_epsilon", "f32", 1e-5), ("audio.projector.stack_factor", "u32", 3))
    case.norm("ln_speech", "mm.a.norm_pre", width)
    for part, number, rows, columns in (("mlp_adapter.0", 0, 10, 3 * width), ("gate_proj", 1, 10, 10),
                                        ("pool_proj", 2, 10, 10), ("out_proj", 3, TEXT, 10)):
        case.linear(f"speech_audio_adapter.{part}", f"mm.a.mlp.{number}", rows, columns)
    whisper_ends(case, "speech_encoder", width, 16, "layer_norm")
    whisper_layers(case, "speech_encoder", layers, width, inner)
    case.drop("text_decoder.model.norm.weight", TEXT)
    return case


def glm_asr():
    width, inner, layers = 8, 12, 3
    case = Case("GlmasrModel",
                {"lm_config": {"hidden_size": TEXT}, "merge_factor": 2,
                 "whisper_config": {"d_model": width, "encoder_ffn_dim": inner, "encoder_attention_heads": 2,
                                    "encoder_layers": layers, "num_mel_bins": 16}})
    case.audio(width, inner, layers, 2)
    case.more(("projector_type", "str", "glma"), ("audio.num_mel_bins", "u32", 16),
              ("audio.attention.layer_norm_epsilon", "f32", 1e-5), ("audio.projector.stack_factor", "u32", 2))
    case.linear("audio_encoder.adapting.0", "mm.a.mlp.1", 10, 2 * width)
    case.linear("audio_encoder.adapting.2", "mm.a.mlp.2", TEXT, 10)
    ends = case.give("audio_encoder.audio_bos_eos_token.weight", 2, TEXT)
    case.want("v.boi", ends[0])
    case.want("v.eoi", ends[1])
    case.norm("audio_encoder.layer_norm", "mm.a.norm_pre", width)
    case.drop("audio_encoder.proj.weight", TEXT, width)
    whisper_ends(case, "audio_encoder.whisper", width, 16, "layer_norm")
    whisper_layers(case, "audio_encoder.whisper", layers, width, inner)
    for name in ("model.norm.weight", "lm_head.weight"):
        case.drop(name, TEXT)
    return case


CASES = (gemma3n, qwen3_omni, qwen3_asr, gemma4_unified, lfm2_audio, janus, meralion, glm_asr)
