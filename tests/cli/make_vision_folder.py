#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_vision_folder.py FOLDER: writes a tiny model that sees as a Hugging Face folder: the text
model of make_model_folder.py, an encoder of images, a projector, and a part that no import reads."""
import pathlib
import sys

import make_model_folder as text

WIDTH, INNER, LAYERS, PATCH = 16, 24, 2, 4


def tensors():
    shapes = {f"language_model.{name}": shape for name, shape in text.tensors().items()}
    shapes["talker.norm.weight"] = [8]
    shapes["multi_modal_projector.norm.weight"] = [WIDTH]
    shapes["multi_modal_projector.linear_1.weight"] = [text.HIDDEN, WIDTH]
    shapes["vision_tower.ln_pre.weight"] = [WIDTH]
    shapes["vision_tower.patch_conv.weight"] = [WIDTH, 3, PATCH, PATCH]
    for layer in range(LAYERS):
        prefix = f"vision_tower.transformer.layers.{layer}."
        for name in ("attention_norm", "ffn_norm"):
            shapes[f"{prefix}{name}.weight"] = [WIDTH]
        for name in "qkvo":
            shapes[f"{prefix}attention.{name}_proj.weight"] = [WIDTH, WIDTH]
        for name in ("gate", "up"):
            shapes[f"{prefix}feed_forward.{name}_proj.weight"] = [INNER, WIDTH]
        shapes[f"{prefix}feed_forward.down_proj.weight"] = [WIDTH, INNER]
    return shapes


def config():
    inner = text.config()
    inner.pop("architectures")
    return {"architectures": ["LlavaForConditionalGeneration"], "text_config": inner,
            "vision_config": {"model_type": "pixtral", "hidden_size": WIDTH,
                              "intermediate_size": INNER, "num_hidden_layers": LAYERS,
                              "num_attention_heads": 2, "image_size": 16, "patch_size": PATCH,
                              "hidden_act": "silu"}}


def tokenizer():
    """One of the plain tokens is that which ends a line of an image."""
    made = text.tokenizer()
    vocab = made["model"]["vocab"]
    vocab["[IMG_BREAK]"] = vocab.pop("aa")
    made["model"]["merges"] = []
    return made


if __name__ == "__main__":
    text.write(pathlib.Path(sys.argv[1]), **{
        "config.json": config(), "tokenizer.json": tokenizer(),
        "preprocessor_config.json": {"image_mean": [0.5] * 3, "image_std": [0.25] * 3},
        "model.safetensors": text.safetensors(tensors())})
