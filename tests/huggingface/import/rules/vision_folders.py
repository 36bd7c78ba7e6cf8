# SPDX-License-Identifier: MIT
"""Tiny folders of models that see, a function for each class: config.json, preprocessor and shapes.

The names are those of the published checkpoints. Widths contradict each other where the rules do not
look at them.
"""
V, FFN, TEXT, LAYERS, PATCH = 16, 24, 32, 4, 4
MEANS = {"image_mean": [0.5, 0.25, 0.125], "image_std": [0.5, 0.75, 1.0]}
PIXELS = {"min_pixels": 784, "max_pixels": 12544}


def with_text(**members):
    return {"text_config": {"hidden_size": TEXT, "num_hidden_layers": 4}, **members}


def joined(*shapes):
    return {name: shape for part in shapes for name, shape in part.items()}


def weights(prefix, with_bias=True, **shapes):
    """`a__b` stands for a.b; a tensor of two dimensions has a bias of its rows."""
    made = {}
    for name, shape in shapes.items():
        name = prefix + name.replace("__", ".")
        made[name + ".weight"] = shape
        if with_bias:
            made[name + ".bias"] = shape[:1]
    return made


def layers(prefix, count=LAYERS, with_bias=True, **shapes):
    return joined(*(weights(f"{prefix}{i}.", with_bias, **shapes) for i in range(count)))


TEXT_TENSORS = {"model.embed_tokens.weight": [3, TEXT], "model.norm.weight": [TEXT],
                "model.layers.0.input_layernorm.weight": [TEXT], "lm_head.weight": [3, TEXT]}


def sam(layer_count=2, width=8, out=V):
    place = "model.sam_model."
    made = weights(place, patch_embed__proj=[width, 3, PATCH, PATCH])
    made[place + "pos_embed"] = [1, 4, 4, width]
    for i in range(layer_count):
        block = f"{place}blocks.{i}."
        made.update(weights(block, norm1=[width], norm2=[width], attn__qkv=[3 * width, width],
                            attn__proj=[width, width], mlp__lin1=[32, width], mlp__lin2=[width, 32]))
        made[block + "attn.rel_pos_h"] = made[block + "attn.rel_pos_w"] = [7, 4]
    made.update(weights(place + "neck.", False, **{"0": [8, width, 1, 1], "2": [8, 8, 3, 3]}))
    made.update(weights(place + "neck.", **{"1": [8], "3": [8]}))
    made.update(weights(place, False, net_2=[8, 8, 3, 3], net_3=[out, 8, 3, 3]))
    return joined(made, weights("model.projector.", layers=[TEXT, 2 * V]),
                  {"model.image_newline": [TEXT], "model.view_seperator": [TEXT]})


def deepseek_ocr(name):
    place = "model.vision_model."
    tower = joined(
        {place + "embeddings.class_embedding": [V]},
        weights(place + "embeddings.", False, patch_embedding=[V, 3, 14, 14],
                position_embedding=[5, V]),
        weights(place, pre_layrnorm=[V]),
        layers(place + "transformer.layers.", layer_norm1=[V], layer_norm2=[V],
               self_attn__qkv_proj=[3 * V, V], self_attn__out_proj=[V, V], mlp__fc1=[FFN, V],
               mlp__fc2=[V, FFN]))
    config = {"architectures": [name], "hidden_size": 8,
              "language_config": {"hidden_size": TEXT, "num_hidden_layers": 3},
              "vision_config": {"image_size": 1024, "mlp_ratio": 3.7362, "model_type": "vision",
                                "width": {"clip-l-14-224": {"heads": 2, "image_size": 224, "layers": LAYERS,
                                                            "patch_size": 14, "width": V},
                                          "sam_vit_b": {"heads": 2, "layers": 2, "width": 8,
                                                        "global_attn_indexes": [1]}}}}
    return config, MEANS, joined(TEXT_TENSORS, tower, sam())


def deepseek_ocr2(name):
    config, _, tensors = deepseek_ocr(name)
    width = config["vision_config"]["width"]
    width.pop("clip-l-14-224")
    width["qwen2-0-5b"] = {"dim": V}
    config["vision_config"].update(layers=LAYERS, num_attention_heads=2)
    place = "model.qwen2_model.model.model."
    tower = joined(
        layers(place + "layers.", LAYERS, False, input_layernorm=[V], post_attention_layernorm=[V],
               self_attn__o_proj=[V, V], mlp__gate_proj=[FFN, V], mlp__up_proj=[FFN, V],
               mlp__down_proj=[V, FFN]),
        layers(place + "layers.", self_attn__q_proj=[V, V], self_attn__k_proj=[8, V],
               self_attn__v_proj=[8, V]),
        weights(place, False, norm=[V]),
        weights("model.qwen2_model.", False, query_768=[9, V], query_1024=[16, V]))
    others = {one: shape for one, shape in tensors.items() if "vision_model" not in one}
    return config, MEANS, joined(others, tower)


def kimi_k25(name):
    config = with_text(
        architectures=[name],
        vision_config={"init_pos_emb_height": 4, "init_pos_emb_width": 6, "init_pos_emb_time": 3,
                       "merge_kernel_size": [2, 2], "patch_size": PATCH, "projector_ln_eps": 1e-6,
                       "vt_hidden_size": V, "vt_intermediate_size": FFN,
                       "num_attention_heads": 2, "vt_num_attention_heads": 2,
                       "vt_num_hidden_layers": 4})
    linears = {"proj.0": [64, 64], "proj.2": [TEXT, 64]}
    if name.startswith("Glm"):
        linears = {"linear_1": [64, 64], "linear_2": [TEXT, 64]}
    tensors = joined(
        {f"language_model.{one}": shape for one, shape in TEXT_TENSORS.items()},
        weights("vision_tower.patch_embed.", proj=[V, 3, PATCH, PATCH]),
        weights("vision_tower.patch_embed.", False, pos_emb=[4, 6, V]),
        layers("vision_tower.encoder.blocks.", 4, norm0=[V], norm1=[V], wqkv=[3 * V, V], wo=[V, V],
               mlp__fc0=[FFN, V], mlp__fc1=[V, FFN]),
        weights("vision_tower.encoder.", final_layernorm=[V]),
        weights("mm_projector.", pre_norm=[V], **linears))
    return config, {"media_proc_cfg": {**MEANS, "in_patch_limit": 100}}, tensors


def radio(name):
    config = with_text(architectures=[name], force_image_size=28, downsample_ratio=0.5,
                       vision_config={"patch_size": PATCH, "args": {"model": "vit_huge_patch16_224"}})
    if name == "RADIOModel":
        config["architectures"] = ["NemotronH_Nano_VL_V2"]
        config["vision_config"]["architectures"] = [name]
    place = "vision_model.radio_model."
    tensors = joined(
        {f"language_model.{one}": shape for one, shape in TEXT_TENSORS.items()},
        weights(place + "model.", False, patch_generator__embedder=[1280, 3 * PATCH * PATCH],
                patch_generator__video_embedder=[1280, 6 * PATCH * PATCH]),
        {place + "model.patch_generator.pos_embed": [1, 49, 1280],
         place + "model.patch_generator.cls_token.token": [3, 1280],
         place + "input_conditioner.norm_mean": [3, 1, 1]},
        layers(place + "model.blocks.", 32, norm1=[V], norm2=[V], attn__qkv=[3 * V, V], attn__proj=[V, V],
               mlp__fc1=[FFN, V], mlp__fc2=[V, FFN]),
        weights("mlp1.", False, **{"0": [64], "1": [FFN, 64], "3": [TEXT, FFN]}))
    return config, {}, tensors


def dots_ocr(name):
    place = "vision_tower."
    config = {"architectures": [name], "hidden_size": TEXT, "num_hidden_layers": 5,
              "vision_config": {"embed_dim": V, "hidden_size": V, "intermediate_size": FFN,
                                "num_hidden_layers": LAYERS, "num_attention_heads": 2,
                                "patch_size": PATCH, "rms_norm_eps": 1e-5, "spatial_merge_size": 2}}
    tensors = joined(
        TEXT_TENSORS,
        weights(place + "patch_embed.patchifier.", proj=[V, 3, PATCH, PATCH]),
        weights(place, False, patch_embed__patchifier__norm=[V], post_trunk_norm=[V]),
        layers(place + "blocks.", LAYERS, False, norm1=[V], norm2=[V], attn__qkv=[3 * V, V],
               attn__proj=[V, V], mlp__fc1=[FFN, V], mlp__fc2=[V, FFN], mlp__fc3=[FFN, V]),
        weights(place + "merger.", ln_q=[V], mlp__0=[64, 64], mlp__2=[TEXT, 64]))
    return config, {**MEANS, **PIXELS}, tensors


def exaone45(name):
    config = with_text(
        architectures=[name],
        vision_config={"depth": 4, "hidden_size": V, "intermediate_size": FFN, "num_heads": 4,
                       "num_key_value_heads": 2, "patch_size": PATCH, "window_size": 112,
                       "fullatt_block_indexes": [1, 3], "out_hidden_size": TEXT})
    tensors = joined(
        {"mtp.fc.weight": [TEXT, 2 * TEXT]}, TEXT_TENSORS,
        weights("model.visual.", False, patch_embed__proj=[V, 3, 2, PATCH, PATCH], merger__ln_q=[V]),
        layers("model.visual.blocks.", 4, False, norm1=[V], norm2=[V]),
        layers("model.visual.blocks.", 4, attn__qkv=[32, V], attn__proj=[V, V], mlp__gate_proj=[FFN, V],
               mlp__up_proj=[FFN, V], mlp__down_proj=[V, FFN]),
        weights("model.visual.merger.", mlp__0=[64, 64], mlp__2=[TEXT, 64]))
    return config, {**MEANS, **PIXELS}, tensors


def step3vl(name):
    config = with_text(architectures=[name], understand_projector_stride=2,
                       vision_config={"heads": 16, "image_size": 728, "layers": 47, "mlp_ratio": 8960 / 1536,
                                      "patch_size": 14, "width": 1536, "layer_norm_eps": 1e-5})
    place = "vision_model."
    blocks = joined(*(
        {f"{place}transformer.resblocks.{i}.{one}": shape for one, shape in
         {"attn.in_proj_bias": [3 * V], "attn.in_proj_weight": [3 * V, V], "ls_1.gamma": [V],
          "ls_2.gamma": [V]}.items()} for i in range(47)))
    tensors = joined(
        TEXT_TENSORS, {place + "positional_embedding": [5, V]},
        weights(place, False, conv1=[V, 3, PATCH, PATCH]), weights(place, ln_pre=[V]), blocks,
        layers(place + "transformer.resblocks.", 47, attn__out_proj=[V, V], ln_1=[V], ln_2=[V],
               mlp__c_fc=[FFN, V], mlp__c_proj=[V, FFN]),
        weights(place, vit_downsampler1=[32, V, 3, 3], vit_downsampler2=[64, 32, 3, 3]),
        weights("", False, vit_large_projector=[TEXT, 64]))
    return config, {}, tensors


def phi4(name):
    config = {"architectures": [name], "hidden_size": TEXT, "num_hidden_layers": 3, "min_num_patches": 5,
              "vision_config": {"hidden_size": V, "intermediate_size": FFN, "num_attention_heads": 2,
                                "num_hidden_layers": 4}}
    place = "model.vision_tower.vision_tower.vision_model."
    tensors = joined(
        TEXT_TENSORS,
        weights(place + "embeddings.", patch_embedding=[V, 3 * PATCH * PATCH]),
        weights(place + "embeddings.", False, position_embedding=[49, V]),
        layers(place + "encoder.layers.", 4, layer_norm1=[V], layer_norm2=[V], self_attn__q_proj=[V, V],
               self_attn__k_proj=[V, V], self_attn__v_proj=[V, V], self_attn__out_proj=[V, V],
               mlp__fc1=[FFN, V], mlp__fc2=[V, FFN]),
        weights(place, post_layernorm=[V], head__layernorm=[V]),
        weights("model.mm_projector.", **{"0": [TEXT, V], "2": [TEXT, TEXT]}))
    return config, {**MEANS, "patch_size": PATCH, "max_num_patches": 49}, tensors


def granite_speech_plus(name):
    config = with_text(
        architectures=[name], window_size=15, downsample_rate=5,
        projector_config={"num_attention_heads": 2, "encoder_hidden_size": 2 * V, "hidden_size": V},
        encoder_config={"cat_hidden_layers": [1], "context_size": 20, "conv_kernel_size": 3,
                        "feedforward_mult": 2, "hidden_dim": V, "input_dim": 10, "max_pos_emb": 6,
                        "num_heads": 2, "num_layers": LAYERS})
    blocks = {}
    for i in range(LAYERS):
        place = f"encoder.layers.{i}."
        blocks.update(joined(
            weights(place, ff1__pre_norm=[V], ff1__up_proj=[2 * V, V], ff1__down_proj=[V, 2 * V],
                    attn__pre_norm=[V], attn__to_out=[V, V], conv__norm=[V], conv__up_conv=[4 * V, V, 1],
                    conv__down_conv=[V, 2 * V, 1], ff2__pre_norm=[V], ff2__up_proj=[2 * V, V],
                    ff2__down_proj=[V, 2 * V], post_norm=[V], conv__batch_norm=[2 * V]),
            {place + "conv.batch_norm.running_mean": [2 * V], place + "conv.batch_norm.running_var": [2 * V],
             place + "conv.batch_norm.num_batches_tracked": [1]},
            weights(place, False, attn__to_q=[V, V], attn__to_kv=[2 * V, V], attn__rel_pos_emb=[13, 8],
                    conv__depth_conv__conv=[2 * V, 1, 3])))
    place = "projector.qformer.encoder.layer.0."
    query = joined(
        {"projector.query": [1, 3, V]}, weights("projector.", linear=[TEXT, V], qformer__layernorm=[V]),
        *(weights(f"{place}{one}.", attention__query=[V, V], attention__key=[V, width],
                  attention__value=[V, width], output__dense=[V, V], output__LayerNorm=[V])
          for one, width in (("attention", V), ("crossattention", 2 * V))),
        weights(place, intermediate_query__dense=[2 * V, V], output_query__dense=[V, 2 * V],
                output_query__LayerNorm=[V]))
    tensors = joined({f"language_model.{one}": shape for one, shape in TEXT_TENSORS.items()},
                     weights("encoder.", input_linear=[V, 10], out=[7, V], out_mid=[V, 7]), blocks, query)
    return config, {}, tensors


def granite4_vision(name):
    config = with_text(
        architectures=[name], downsample_rate="4/8", image_grid_pinpoints=[[16, 32], [32, 16]],
        deepstack_layer_map=[[-1, 3], [0, 1]], spatial_target_layers=[2, 0], spatial_vision_layer=-2,
        vision_config={"hidden_size": V, "intermediate_size": FFN, "num_attention_heads": 2, "image_size": 16,
                       "num_hidden_layers": 4, "patch_size": PATCH})
    tower = "model.vision_tower.vision_model."
    query = {}
    for kind in ("layerwise", "spatial"):
        for i in range(2):
            place = f"model.{kind}_projectors.{i}."
            inner = place + "qformer.encoder.layer.0."
            query.update(joined(
                {place + "image_positions": [1, 4, V], place + "query": [1, 4, V]},
                weights(place, norm=[V], out_linear=[TEXT, V], qformer__layernorm=[V]),
                *(weights(f"{inner}{one}.", attention__query=[V, V], attention__key=[V, V],
                          attention__value=[V, V], output__dense=[V, V], output__LayerNorm=[V])
                  for one in ("attention", "crossattention")),
                weights(inner, intermediate_query__dense=[FFN, V], output_query__dense=[V, FFN],
                        output_query__LayerNorm=[V])))
    tensors = joined(
        {f"model.language_model.{one}": shape for one, shape in TEXT_TENSORS.items()},
        {"model.image_newline": [TEXT]}, query,
        weights(tower + "embeddings.", patch_embedding=[V, 3, PATCH, PATCH]),
        weights(tower + "embeddings.", False, position_embedding=[16, V]),
        layers(tower + "encoder.layers.", 4, layer_norm1=[V], layer_norm2=[V], self_attn__q_proj=[V, V],
               self_attn__k_proj=[V, V], self_attn__v_proj=[V, V], self_attn__out_proj=[V, V],
               mlp__fc1=[FFN, V], mlp__fc2=[V, FFN]),
        weights(tower, post_layernorm=[V], head__layernorm=[V]))
    return config, MEANS, tensors


def youtuvl(name):
    config = {"architectures": [name], "hidden_size": TEXT, "num_hidden_layers": 3,
              "vision_config": {"hidden_size": V, "intermediate_size": FFN, "num_attention_heads": 2,
                                "num_hidden_layers": 4, "patch_size": PATCH, "window_size": 112,
                                "fullatt_block_indexes": [0, 2], "hidden_act": "gelu_pytorch_tanh"}}
    tower = "siglip2.vision_model."
    tensors = joined(
        TEXT_TENSORS,
        weights(tower, embeddings__patch_embedding=[V, 3 * PATCH * PATCH], post_layernorm=[V]),
        layers(tower + "encoder.layers.", 4, layer_norm1=[V], layer_norm2=[V], self_attn__q_proj=[V, V],
               self_attn__k_proj=[V, V], self_attn__v_proj=[V, V], self_attn__out_proj=[V, V],
               mlp__fc1=[FFN, V], mlp__fc2=[V, FFN]),
        weights("merger.", False, ln_q=[V]), weights("merger.", mlp__0=[64, 64], mlp__2=[TEXT, 64]))
    return config, MEANS, tensors


def sarashina2(name):
    config = with_text(architectures=[name],
                       vision_config={"depth": LAYERS, "embed_dim": V, "hidden_size": TEXT, "num_heads": 2,
                                      "patch_size": PATCH, "spatial_merge_size": 2})
    tensors = joined(
        {f"llm.{one}": shape for one, shape in TEXT_TENSORS.items()}, weights("", norm=[TEXT]),
        weights("visual.", False, patch_embed__proj=[V, 3, 2, PATCH, PATCH]),
        layers("visual.blocks.", norm1=[V], norm2=[V], attn__qkv=[3 * V, V], attn__proj=[V, V],
               mlp__fc1=[64, V], mlp__fc2=[V, 64]),
        weights("visual.merger.", ln_q=[V], mlp__0=[64, 64], mlp__2=[TEXT, 64]))
    return config, MEANS, tensors


def minimax_m3(name):
    config = with_text(
        architectures=[name],
        vision_config={"hidden_size": 160, "intermediate_size": FFN, "num_attention_heads": 2,
                       "num_hidden_layers": LAYERS, "image_size": 16, "patch_size": PATCH,
                       "img_token_compression_config": {"spatial_merge_size": 2, "temporal_patch_size": 2}})
    tower = "vision_tower.vision_model."
    tensors = joined(
        {f"language_model.{one}": shape for one, shape in TEXT_TENSORS.items()},
        weights(tower, False, embeddings__patch_embedding=[160, 3, 2, PATCH, PATCH]),
        weights(tower, pre_layrnorm=[160]),
        layers(tower + "encoder.layers.", layer_norm1=[160], layer_norm2=[160], self_attn__q_proj=[160, 160],
               self_attn__k_proj=[160, 160], self_attn__v_proj=[160, 160], self_attn__out_proj=[160, 160],
               mlp__fc1=[FFN, 160], mlp__fc2=[160, FFN]),
        weights("multi_modal_projector.", linear_1=[FFN, 160], linear_2=[TEXT, FFN]),
        weights("patch_merge_mlp.", linear_1=[FFN, 128], linear_2=[TEXT, FFN]))
    return config, MEANS, tensors


def with_sounds(name):
    """The encoder of sounds of Nemotron beside that of `radio`."""
    config, means, tensors = radio(name.removesuffix(" with sounds"))
    config["sound_config"] = {"hidden_size": V, "intermediate_size": FFN, "num_hidden_layers": 2,
                              "num_attention_heads": 2, "num_mel_bins": 16, "subsampling_factor": 8,
                              "conv_kernel_size": 5}
    place = "sound_encoder.encoder."
    kernels = {"0": [8, 1, 3, 3], "2": [8, 1, 3, 3], "3": [8, 8, 1, 1], "5": [8, 1, 3, 3], "6": [8, 8, 1, 1]}
    blocks = layers(place + "layers.", 2, norm_feed_forward1=[V], norm_self_att=[V], norm_conv=[V],
                    norm_feed_forward2=[V], norm_out=[V], conv__norm=[V])
    for i in range(2):
        block = f"{place}layers.{i}."
        blocks.update(joined(
            weights(block, False, self_attn__q_proj=[V, V], self_attn__k_proj=[V, V], self_attn__v_proj=[V, V],
                    self_attn__o_proj=[V, V], self_attn__relative_k_proj=[V, V],
                    feed_forward1__linear1=[FFN, V], feed_forward1__linear2=[V, FFN],
                    feed_forward2__linear1=[FFN, V], feed_forward2__linear2=[V, FFN],
                    conv__depthwise_conv=[V, 1, 5]),
            weights(block + "conv.", pointwise_conv1=[2 * V, V, 1], pointwise_conv2=[V, V, 1]),
            {block + "self_attn.bias_u": [2, 8], block + "self_attn.bias_v": [2, 8],
             block + "conv.norm.running_mean": [V], block + "conv.norm.running_var": [V],
             block + "conv.norm.num_batches_tracked": [1]}))
    return config, means, joined(
        tensors, weights(place + "subsampling.layers.", **kernels), blocks,
        weights(place + "subsampling.", linear=[V, 16]),
        {place + "feature_extractor.featurizer.fb": [1, 16, 9],
         place + "feature_extractor.featurizer.window": [16]},
        weights("sound_projection.", False, norm=[V], linear1=[FFN, V], linear2=[TEXT, FFN]))


def mimo(name):
    config = with_text(
        architectures=[name], audio_config={"audio_channels": 3, "group_size": 4, "input_local_layers": 2},
        vision_config={"depth": LAYERS, "hidden_size": V, "intermediate_size": FFN, "num_heads": 2,
                       "num_key_value_heads": 1, "patch_size": PATCH, "spatial_merge_size": 2,
                       "visual_token_window_size": 8, "vit_window_attn_types": [-1, 0, 1, -1]})
    sounds = {"d_model": V, "encoder_ffn_dim": FFN, "encoder_attention_heads": 2, "encoder_layers": LAYERS,
              "n_mels": 16, "encoder_attn_window_size": [6, 6], "hybrid_attention": True, "swa_per_block": 2}
    blocks = layers("visual.blocks.", norm1=[V], norm2=[V], attn__qkv=[32, V], attn__proj=[V, V],
                    mlp__gate_proj=[FFN, V], mlp__up_proj=[FFN, V], mlp__down_proj=[V, FFN])
    blocks.update({f"visual.blocks.{i}.attn.sinks": [2] for i in range(LAYERS)})
    place = "audio_encoder.input_local_transformer."
    model = joined(
        TEXT_TENSORS, weights("visual.", False, patch_embed__proj=[V, 3, 2, PATCH, PATCH]), blocks,
        weights("visual.merger.", ln_q=[V]), weights("visual.merger.", False, mlp__0=[64, 64], mlp__2=[TEXT, 64]),
        *(weights("speech_embeddings.", False, **{str(i): [9, V]}) for i in range(3)),
        layers(place + "layers.", 2, False, input_layernorm=[V], post_attention_layernorm=[V],
               self_attn__o_proj=[V, V], mlp__gate_proj=[FFN, V], mlp__up_proj=[FFN, V], mlp__down_proj=[V, FFN]),
        layers(place + "layers.", 2, self_attn__q_proj=[V, V], self_attn__k_proj=[V, V], self_attn__v_proj=[V, V]),
        weights(place, False, norm=[V]),
        weights("audio_encoder.projection.", False, mlp__0=[FFN, 64], mlp__2=[TEXT, FFN]))
    books = {}
    for i, rows in enumerate((7, 9, 5)):
        book = f"encoder.quantizer.vq.layers.{i}._codebook."
        books.update({book + "embed": [rows, V], book + "embed_avg": [rows, V], book + "inited": [1],
                      book + "cluster_size": [rows]})
    ears = joined(
        weights("encoder.", conv1=[V, 16, 3], conv2=[V, V, 3], layer_norm=[V], down_sample_norm=[V]),
        layers("encoder.layers.", self_attn__q_proj=[V, V], self_attn__v_proj=[V, V], self_attn__out_proj=[V, V],
               fc1=[FFN, V], fc2=[V, FFN], self_attn_layer_norm=[V], final_layer_norm=[V]),
        layers("encoder.layers.", LAYERS, False, self_attn__k_proj=[V, V]),
        weights("encoder.", False, down_sample_layer__0=[V, V, 2]), books)
    return config, {**MEANS, **PIXELS}, {None: model, "audio_tokenizer/model.safetensors": ears,
                                         "audio_tokenizer/config.json": sounds}


FOLDERS = {
    "UnlimitedOCRForCausalLM": deepseek_ocr, "DeepseekOCR2ForCausalLM": deepseek_ocr2,
    "KimiK25ForConditionalGeneration": kimi_k25, "Glm5vForConditionalGeneration": kimi_k25,
    "NemotronH_Nano_VL_V2": radio, "RADIOModel": radio, "DotsOCRForCausalLM": dots_ocr,
    "Exaone4_5_ForConditionalGeneration": exaone45, "StepVLForConditionalGeneration": step3vl,
    "Step3p7ForConditionalGeneration": step3vl, "Phi4ForCausalLMV": phi4,
    "GraniteSpeechPlusForConditionalGeneration": granite_speech_plus,
    "Granite4VisionForConditionalGeneration": granite4_vision,
    "YoutuVLForConditionalGeneration": youtuvl, "Sarashina2VisionForCausalLM": sarashina2,
    "MiniMaxM3SparseForConditionalGeneration": minimax_m3, "MiMoV2ForCausalLM": mimo,
    "NemotronH_Nano_VL_V2 with sounds": with_sounds,
}
