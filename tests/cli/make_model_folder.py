#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_model_folder.py FOLDER: writes a tiny Llama as a Hugging Face folder: config.json,
model.safetensors in BF16, tokenizer.json."""
import json
import math
import pathlib
import struct
import sys

HIDDEN, FEED_FORWARD, LAYERS, HEADS, TOKENS = 64, 96, 2, 4, 258
END = "<|endoftext|>"


def tensors():
    shapes = {"model.embed_tokens.weight": [TOKENS, HIDDEN], "model.norm.weight": [HIDDEN],
              "lm_head.weight": [TOKENS, HIDDEN]}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{prefix}{name}.weight"] = [HIDDEN]
        for name in "qkvo":
            shapes[f"{prefix}self_attn.{name}_proj.weight"] = [HIDDEN, HIDDEN]
        for name in ("gate", "up"):
            shapes[f"{prefix}mlp.{name}_proj.weight"] = [FEED_FORWARD, HIDDEN]
        shapes[f"{prefix}mlp.down_proj.weight"] = [HIDDEN, FEED_FORWARD]
    return shapes


def config():
    return {"architectures": ["LlamaForCausalLM"], "hidden_size": HIDDEN,
            "intermediate_size": FEED_FORWARD, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "vocab_size": TOKENS,
            "max_position_embeddings": 128, "rms_norm_eps": 1e-5}


def safetensors(shapes):
    header, data = {}, b""
    for seed, (name, shape) in enumerate(shapes.items()):
        count = math.prod(shape)
        # BF16 numbers between 1 and 2, or their negatives
        numbers = ((0x3F80 | (i * 37 + seed) % 128) ^ (i % 3 == 0) << 15 for i in range(count))
        begin = len(data)
        data += struct.pack(f"<{count}H", *numbers)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def byte_letters():
    """The letters of byte-level BPE for the bytes 0 to 255."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def tokenizer(tokens=TOKENS):
    """All bytes, a pair, an end of texts, and tokens without a meaning."""
    texts = [*byte_letters(), "aa", END] + [f"extra{i}" for i in range(tokens - 258)]
    return {"model": {"type": "BPE", "vocab": {text: i for i, text in enumerate(texts)},
                      "merges": ["a a"]},
            "added_tokens": [{"id": 257, "content": END, "special": True}],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}}


def write(folder, **changes):
    """Files of `changes` replace the usual ones; None leaves one out."""
    files = {"config.json": config(), "tokenizer.json": tokenizer(),
             "tokenizer_config.json": {"eos_token": END},
             "model.safetensors": safetensors(tensors()), **changes}
    folder.mkdir(parents=True)
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        elif content is not None:
            (folder / name).write_text(json.dumps(content))
    return folder


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
