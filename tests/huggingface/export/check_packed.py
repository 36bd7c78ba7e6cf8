#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_packed.py PROGRAM [--variants N] [--first N]

Writes small quantized models as folders of MLX and of GPTQ, decodes these by the formats' formulas
alone, and compares the numbers with those of the model; then imports them with --type exact, which
has to give the same blocks. What a form does not hold is refused with the names of the tensors.
Exit 77 (skipped) without NumPy.
"""
import argparse
import json
import pathlib
import struct
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "import"))

from check_exact import BLOCK_BYTES, decode, run
from quantized_folders import Folder, from_bf16
from rules.gguf_file import Gguf

DTYPES = {"F32": np.float32, "F16": np.float16, "U32": np.uint32, "I32": np.int32}


def read_model(path):
    """Tensors as name -> (type, bytes, numbers)."""
    tensors = {}
    for name, kind, dims, data in Gguf(path.read_bytes()).tensors:
        count = int(np.prod(dims))
        size = count // 32 * BLOCK_BYTES[kind] if kind in BLOCK_BYTES else \
            count * (4 if kind == "F32" else 2)
        raw = np.frombuffer(data, np.uint8, size)
        tensors[name] = kind, raw.tobytes(), decode(kind, raw).reshape(dims[::-1])
    return tensors


def read_folder(path):
    """config.json, and the tensors of the folder."""
    data = (path / "model.safetensors").read_bytes()
    size, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + at for at in entry["data_offsets"])
        raw = np.frombuffer(data[begin:end], np.uint8)
        tensors[name] = (from_bf16(raw.view(np.uint16)) if entry["dtype"] == "BF16" else
                         raw.view(DTYPES[entry["dtype"]])).reshape(entry["shape"])
    return json.loads((path / "config.json").read_text()), tensors


def codes_of(words, bits):
    """The codes of rows of words, from the lowest bit on."""
    raw = np.ascontiguousarray(words.astype("<u4")).view(np.uint8)
    ones = np.unpackbits(raw, axis=-1, bitorder="little")
    ones = ones.reshape(*words.shape[:-1], -1, bits)
    return (ones.astype(np.uint32) << np.arange(bits, dtype=np.uint32)).sum(-1)


def spread(groups, columns):
    return np.repeat(groups.astype(np.float32), columns // groups.shape[-1], -1)


def decode_mlx(config, tensors):
    numbers = {}
    for name, words in tensors.items():
        base = name.rsplit(".", 1)[0]
        if name.endswith((".scales", ".biases")):
            continue
        if base + ".scales" not in tensors:
            numbers[name] = words.astype(np.float32)
            continue
        settings = config["quantization"].get(base, config["quantization"])
        codes = codes_of(words, settings["bits"])
        columns = codes.shape[-1]
        assert columns // settings["group_size"] == tensors[base + ".scales"].shape[-1]
        numbers[name] = codes.astype(np.float32) * spread(tensors[base + ".scales"], columns) + \
            spread(tensors[base + ".biases"], columns)
    return numbers


def decode_gptq(config, tensors):
    numbers = {}
    for name, words in tensors.items():
        base = name.rsplit(".", 1)[0]
        if name.endswith((".scales", ".qzeros", ".g_idx")):
            continue
        if not name.endswith(".qweight"):
            numbers[name] = words.astype(np.float32)
            continue
        groups = tensors[base + ".g_idx"]
        bits = words.shape[0] * 32 // len(groups)
        settings = config["quantization_config"]
        named = f"+:^{base}$".replace(".", "\\.")
        assert settings.get("dynamic", {}).get(named, settings)["bits"] == bits, base
        codes = codes_of(words.T, bits).astype(np.int64)
        zeros = codes_of(tensors[base + ".qzeros"], bits).T.astype(np.int64) + 1
        scales = tensors[base + ".scales"].T.astype(np.float32)
        numbers[base + ".weight"] = (codes - zeros[:, groups]).astype(np.float32) * \
            scales[:, groups]
    return numbers


def names_in_folder(model, folder):
    """The numbers of a model by their names in a folder."""
    parts = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
             "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
             "ffn_gate_exps": "mlp.switch_mlp.gate_proj", "ffn_up_exps": "mlp.switch_mlp.up_proj",
             "ffn_down_exps": "mlp.switch_mlp.down_proj"}
    found = {"model.embed_tokens.weight": model["token_embd.weight"][2],
             "lm_head.weight": model["output.weight"][2]}
    for part, name in parts.items():
        if f"blk.0.{part}.weight" not in model:
            continue
        numbers = model[f"blk.0.{part}.weight"][2]
        if part in ("attn_q", "attn_k") and not folder.experts:
            heads = folder.heads if part == "attn_q" else folder.kv_heads
            rows = numbers.reshape(heads, -1, 2, numbers.shape[1])
            numbers = rows.swapaxes(1, 2).reshape(numbers.shape)
        found[f"model.layers.0.{name}.weight"] = numbers
    return found


def check_form(program, form, model_path, folder, path):
    """A fault, or None."""
    model = read_model(model_path)
    wanted = names_in_folder(model, folder)
    out, again = path / form, path / f"{form}.gguf"
    command = [program, "convert", model_path, out, "--format", form]
    code, _, errors = run(*command)
    kinds = {kind for kind, *_ in model.values()}
    if form == "gptq" and kinds & {"Q4_1", "Q5_1"}:
        if code != 3 or "blk.0.ffn_up" not in errors or "--lossy" not in errors or out.exists():
            if not (code == 0 and "Q5_1" not in kinds):  # Q4_1 may have whole zeros
                return f"{form}: {kinds} are not refused: {code} {errors}"
        if code == 3:
            code, _, errors = run(*command, "--lossy")
            if code != 0 or "lost" not in errors:
                return f"{form} --lossy ends with {code}: {errors}"
            return None
    if code != 0:
        return f"{form} ends with {code}: {errors}"
    if "lost" in errors:
        return f"{form} says {errors}"
    config, tensors = read_folder(out)
    numbers = (decode_mlx if form == "mlx" else decode_gptq)(config, tensors)
    for name, expected in wanted.items():
        if name not in numbers and form == "gptq" and "switch_mlp" in name:
            name_of = name.replace("switch_mlp.", "experts.{}.").format
            numbers[name] = np.stack([numbers[name_of(i)] for i in range(len(expected))])
        if not np.array_equal(numbers[name], expected):
            return f"{form}: {name} has other numbers"
    stated = config["quantization_config"]["group_size"]
    if stated != (folder.maker.group if folder.has_codes and not folder.experts else 32):
        return f"{form}: groups of {stated}, and the source has {folder.maker.group}"
    code, _, errors = run(program, "convert", out, again, "--type", "exact", "-q")
    if code != 0:
        return f"the import of {form} ends with {code}: {errors}"
    back = read_model(again)
    for name, (kind, raw, values) in model.items():
        is_table = form == "gptq" and name in ("token_embd.weight", "output.weight")
        # Folders have no -0, which blocks have whose scale is negative.
        has_lost_sign = np.any((values == 0) & np.signbit(values))
        if has_lost_sign and not np.array_equal(back[name][2], values):
            return f"{form}: {name} comes back as other numbers"
        if back[name][:2] != (kind, raw) and not is_table and not has_lost_sign:
            return f"{form}: {name} was {kind} and comes back as {back[name][0]}, or other bytes"
    return None


def check(program, variant, path):
    source, model = path / "model", path / "model.gguf"
    source.mkdir()
    types = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "mixed", "experts", "groups"]
    kind = types[variant % len(types)]
    source_kind = {"experts": "mlx_experts", "groups": "packed"}.get(kind, "plain")
    folder = Folder(source_kind, variant)
    # Rows of whole blocks; blocks of a group share their scale only where there are no zeros.
    while folder.maker.group % 32 != 0 or (kind == "groups" and not folder.maker.is_symmetric):
        variant += 1000
        folder = Folder(source_kind, variant)
    folder.write(source)
    if source_kind != "plain":
        command = [program, "convert", source, model, "--type", "exact", "--pre", "gpt-2"]
    else:
        command = [program, "quantize", source, model, "Q4_0" if kind == "mixed" else kind,
                   "--pure", "--pre", "gpt-2"]
        if kind == "mixed":
            command += ["--tensor-type", "ffn_down=Q8_0", "--tensor-type", "attn_v=F16"]
    code, _, errors = run(*command)
    if code != 0:
        return f"the model cannot be made: {errors}"
    for form in ("mlx", "gptq"):
        fault = check_form(program, form, model, folder, path)
        if fault:
            return f"{kind}, {fault}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    faults = 0
    for variant in range(options.first, options.first + options.variants):
        with tempfile.TemporaryDirectory() as path:
            fault = check(options.program, variant, pathlib.Path(path))
        if fault:
            faults += 1
            print(f"variant {variant}: {fault}")
    print(f"{options.variants} models, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
