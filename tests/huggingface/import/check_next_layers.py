#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_next_layers.py PROGRAM

Imports a small folder of DeepSeek V4, whose layers that predict further tokens come only with --mtp, and compares names,
types, shapes and bytes of that draft with what a second reading of the reference converter (conversion/deepseek.py of
llama.cpp) gives. Without the option, and with --no-mtp, the model has none of them. Then the same for a draft of DSpark, which is
in the same folder under a class of its own.
"""
import json
import pathlib
import random
import struct
import sys
import tempfile

from plain_folder import convert, difference, encoded, padded, write_weights
from rules.gguf_file import Gguf

CONFIG = {
    "architectures": ["DeepseekV4ForCausalLM"], "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 32, "vocab_size": 3, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
    "rope_theta": 10000, "qk_rope_head_dim": 16, "q_lora_rank": 32, "o_lora_rank": 32, "o_groups": 2,
    "sliding_window": 16, "moe_intermediate_size": 32, "n_routed_experts": 2, "n_shared_experts": 1,
    "num_experts_per_tok": 1, "scoring_func": "sqrtsoftplus", "routed_scaling_factor": 1.5, "norm_topk_prob": True,
    "swiglu_limit": 10.0, "index_n_heads": 2, "index_head_dim": 32, "index_topk": 8, "compress_ratios": [0, 0],
    "compress_rope_theta": 160000, "hc_mult": 2, "hc_sinkhorn_iters": 4, "hc_eps": 1e-6, "num_hash_layers": 0,
    "num_nextn_predict_layers": 1,
}
TOKENIZER = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
             "pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}}


def make_tensors(choose):
    """name -> (type, shape, bytes)."""
    tensors = {}

    def add(name, kind, *shape):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        if kind in ("I8", "F8_E8M0"):
            data = bytes(choose.randrange(110, 140) if kind == "F8_E8M0" else choose.randrange(256)
                         for _ in range(count))
        else:
            # Each block of 32 has the number 127, so that its scale in Q8_0 is 1.
            numbers = [127 if i % 32 == 5 else choose.randrange(-127, 128) for i in range(count)]
            data = encoded(numbers, kind)
        tensors[name] = kind, shape, data

    def add_layer(prefix):
        add(f"{prefix}attn_norm.weight", "BF16", 64)
        add(f"{prefix}hc_attn_base", "F32", 8)
        for expert in range(2):
            for part, rows, columns in (("w1", 32, 64), ("w2", 64, 32), ("w3", 32, 64)):
                add(f"{prefix}ffn.experts.{expert}.{part}.weight", "I8", rows, columns // 2)
                add(f"{prefix}ffn.experts.{expert}.{part}.scale", "F8_E8M0", rows, columns // 32)

    add("embed.weight", "BF16", 3, 64)
    add("norm.weight", "BF16", 64)
    add("head.weight", "BF16", 3, 64)
    add_layer("layers.0.")
    add_layer("mtp.0.")
    for part in ("e_proj", "h_proj"):
        add(f"mtp.0.{part}.weight", "BF16", 64, 64)
    for part in ("enorm", "hnorm", "norm"):
        add(f"mtp.0.{part}.weight", "BF16", 64)
    for prefix in ("", "mtp.0."):
        add(f"{prefix}hc_head_fn", "F32", 2, 128)
        add(f"{prefix}hc_head_base", "F32", 2)
        add(f"{prefix}hc_head_scale", "F32", 1)
    return dict(sorted(tensors.items()))


def make_spark(choose):
    """A draft of DSpark: the layer, without what joins embeddings, and its own matrices."""
    tensors = {name: tensor for name, tensor in make_tensors(choose).items()
               if not any(part in name for part in ("e_proj", "h_proj", "enorm", "hnorm"))}
    for name, shape in (("main_proj", (64, 192)), ("main_norm", (64,)), ("markov_head.markov_w1", (3, 32)),
                        ("markov_head.markov_w2", (3, 32)), ("confidence_head.proj", (1, 96))):
        data = encoded([choose.randrange(-9, 9) for _ in range(shape[0] * (shape[1] if len(shape) > 1 else 1))], "BF16")
        tensors[f"mtp.0.{name}.weight"] = "BF16", shape, data
    return dict(sorted(tensors.items()))


def mxfp4(tensors, part):
    """The blocks of all experts: a scale, then elements j and j + 16 in byte j."""
    data = b""
    for expert in range(2):
        base = f"mtp.0.ffn.experts.{expert}.{part}"
        codes, scales = tensors[f"{base}.weight"][2], tensors[f"{base}.scale"][2]
        for block, scale in enumerate(scales):
            paired = codes[16 * block:16 * block + 16]
            single = [code >> shift & 15 for code in paired for shift in (0, 4)]
            data += bytes([scale, *(single[j] | single[j + 16] << 4 for j in range(16))])
    return data


def floats(data):
    """Of BF16."""
    return [struct.unpack("<f", b"\0\0" + data[at:at + 2])[0] for at in range(0, len(data), 2)]


def q8_0(numbers):
    """Blocks whose largest number is 127."""
    return b"".join(struct.pack("<e32b", 1, *map(int, numbers[at:at + 32])) for at in range(0, len(numbers), 32))


def expected_draft(tensors):
    for part, kind, dims in (("w1", "gate", [64, 32, 2]), ("w2", "down", [32, 64, 2]), ("w3", "up", [64, 32, 2])):
        yield f"blk.1.ffn_{kind}_exps.weight", "MXFP4", dims, mxfp4(tensors, part)
    left, right = (floats(tensors[f"mtp.0.{part}.weight"][2]) for part in ("e_proj", "h_proj"))
    rows = [number for row in range(64) for numbers in (left, right) for number in numbers[64 * row:64 * row + 64]]
    yield "blk.1.nextn.eh_proj.weight", "Q8_0", [128, 64], q8_0(rows)
    names = {"embed.weight": "token_embd.weight", "head.weight": "output.weight", "norm.weight": "output_norm.weight",
             "mtp.0.attn_norm.weight": "blk.1.attn_norm.weight", "mtp.0.enorm.weight": "blk.1.nextn.enorm.weight",
             "mtp.0.hnorm.weight": "blk.1.nextn.hnorm.weight",
             "mtp.0.norm.weight": "blk.1.nextn.shared_head_norm.weight",
             "mtp.0.hc_attn_base": "blk.1.hc_attn_base.weight", "mtp.0.hc_head_fn": "output_hc_fn.weight",
             "mtp.0.hc_head_base": "output_hc_base.weight", "mtp.0.hc_head_scale": "output_hc_scale.weight"}
    for name, (kind, shape, data) in tensors.items():
        if name in names:
            if kind == "BF16" and len(shape) == 1:
                kind, data = "F32", encoded(floats(data), "F32")
            yield names[name], kind, list(shape[::-1]), data


def expected_spark(tensors):
    for part, kind, dims in (("w1", "gate", [64, 32, 2]), ("w2", "down", [32, 64, 2]), ("w3", "up", [64, 32, 2])):
        yield f"blk.0.ffn_{kind}_exps.weight", "MXFP4", dims, mxfp4(tensors, part)
    names = {"attn_norm.weight": "blk.0.attn_norm.weight", "norm.weight": "output_norm.weight",
             "hc_attn_base": "blk.0.hc_attn_base.weight", "hc_head_fn": "output_hc_fn.weight",
             "hc_head_base": "output_hc_base.weight", "hc_head_scale": "output_hc_scale.weight",
             "main_proj.weight": "fc.weight", "main_norm.weight": "enc.output_norm.weight",
             "markov_head.markov_w1.weight": "markov_w1.weight", "markov_head.markov_w2.weight": "markov_w2.weight",
             "confidence_head.proj.weight": "conf_proj.weight"}
    for name, (kind, shape, data) in tensors.items():
        own = name.removeprefix("mtp.0.")
        if name != own and own in names:
            if kind == "BF16" and len(shape) == 1:
                kind, data = "F32", encoded(floats(data), "F32")
            yield names[own], kind, list(shape[::-1]), data


def spark_faults(program, path):
    target, folder = path / "Tiny", path / "Spark"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({
        **CONFIG, "architectures": ["DeepseekV4DSparkModel"], "num_hidden_layers": 9, "compress_ratios": [0] * 9,
        "dspark_block_size": 5, "dspark_target_layer_ids": [0, 4], "dspark_noise_token_id": 2}))
    tensors = make_spark(random.Random(5))
    write_weights(folder / "model.safetensors", tensors)
    out = path / "spark.gguf"
    done = convert(program, folder, out, "--target-model-dir", str(target), "--pre", "gpt-2")
    if done.returncode != 0:
        return [done.stderr.strip()]
    draft = Gguf(out.read_bytes())
    wanted = {"block_count": ("u32", 1), "compress_ratios": ("[i32]", [0]), "block_size": ("u32", 5),
              "target_layers": ("[i32]", [1, 5])}
    wanted = {f"dflash.{'attention.' if key.startswith('compress') else ''}{key}": value
              for key, value in wanted.items()} | {"tokenizer.ggml.mask_token_id": ("u32", 2)}
    return [f"{key}: {draft.keys.get(key)}" for key, value in wanted.items() if draft.keys.get(key) != value] + \
        [difference(padded(draft.tensors), padded(expected_spark(tensors)), "tensor of DSpark")]


def main():
    program, = sys.argv[1:]
    faults = []
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name)
        folder = path / "Tiny"
        folder.mkdir()
        (path / "out/--mtp").mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(CONFIG))
        (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        (folder / "tokenizer_config.json").write_text("{}")
        tensors = make_tensors(random.Random(4))
        write_weights(folder / "model.safetensors", tensors)
        outputs = {}
        for option in ("", "--no-mtp", "--mtp"):
            done = convert(program, folder, f"{path}/out/{option}/" if option == "--mtp" else f"{path}/out{option}.gguf",
                           *([option] if option else []), "--pre", "gpt-2")
            if done.returncode != 0:
                print(done.stderr.strip())
                return 1
            out, = (path / "out" / option).glob("*.gguf") if option == "--mtp" else [path / f"out{option}.gguf"]
            outputs[option] = out.name, out.read_bytes()
        file_name, data = outputs["--mtp"]
        draft, model = Gguf(data), Gguf(outputs[""][1])
        faults.append(difference(padded(draft.tensors), padded(expected_draft(tensors)), "tensor"))
        prefix = "deepseek4."
        wanted = {"block_count": ("u32", 2), "nextn_predict_layers": ("u32", 1), "swiglu_clamp_exp": ("[f32]", [10, 10])}
        for key, value in wanted.items():
            if draft.keys[prefix + key] != value:
                faults.append(f"{key}: {draft.keys[prefix + key]}")
        own = [key for key in draft.keys if key.startswith(prefix)]
        if own[-1] != prefix + "nextn_predict_layers":
            faults.append(f"the last key of the architecture is {own[-1]}")
        if not file_name.startswith("mtp-"):
            faults.append(f"the draft is called {file_name}")
        if model.keys[prefix + "block_count"] != ("u32", 1) or prefix + "nextn_predict_layers" in model.keys \
                or any(name.startswith("blk.1.") for name, *_ in model.tensors):
            faults.append("the model has layers that predict further tokens")
        if outputs[""][1] != outputs["--no-mtp"][1]:
            faults.append("--no-mtp changes the model")
        faults += spark_faults(program, path)
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) or "the drafts are those of the second reading")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
