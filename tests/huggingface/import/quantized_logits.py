#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""quantized_logits.py WRITE_LOGITS PROGRAM: what PROGRAM makes of quantized folders, in llama.cpp.

Folders of GPTQ, AWQ, compressed-tensors and MLX (affine, mxfp4, nvfp4) become models by --type exact.
llama.cpp (bench/install_ggml) loads each, and its logits are those of WRITE_LOGITS, but for the
rounding of its activations; of the same weights as floats they are the same. Skips (77) without
NumPy or the engine.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2] / "evaluation"))
try:
    import numpy as np
    from quantized_folders import Folder
except ImportError:
    print("numpy is missing")
    sys.exit(77)
from engine import LIMIT, engine_logits, in_own_process, largest_error  # noqa: E402
from llama_engine import Engine, EngineMissing  # noqa: E402

# Of the largest logit of a token: the engine rounds activations to 8 bits where weights are quantized.
QUANTIZED_LIMIT = 0.15
CHUNK = 32
VOCABULARY = 41  # of the text of WRITE_LOGITS
# A format, and the type of most of its matrices.
FOLDERS = [("gptq", "Q4_0"), ("packed", "Q4_0"), ("gptq", "Q8_0"), ("awq", "Q5_0"), ("mlx", "Q4_1"),
           ("mlx_experts", "Q4_1"), ("mlx_floats", "MXFP4"), ("mlx_floats", "NVFP4")]


def folder_of(name, kind):
    """The first variant whose matrices all become this type."""
    for variant in range(1000):
        folder = Folder(name, variant, VOCABULARY)
        kinds = {wanted for to, (_, wanted) in folder.expected.items() if to.startswith("blk.") and wanted != "F32"}
        if kinds == {kind}:
            return folder
    raise SystemExit(f"no folder of {name} becomes {kind}")


def import_folder(program, name, kind, path):
    folder = folder_of(name, kind)
    source, out, plain = path / "folder", path / "model.gguf", path / "plain.gguf"
    source.mkdir()
    folder.write(source)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([program, "convert", source, out, "--type", "exact", "--pre", "gpt-2", "-q"], **quiet)
    subprocess.run([program, "quantize", out, plain, "F32", "-q"], **quiet)
    tensors = json.loads(subprocess.run([program, "tensors", out, "--json"], check=True,
                                        stdout=subprocess.PIPE).stdout)
    return out, plain, sum(tensor["type"] == kind for tensor in tensors)


def compare(engine, write_logits, program, name, kind):
    """How many matrices have the type, and the errors with them and with floats; or a text."""
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        out, plain, count = import_folder(program, name, kind, path)
        subprocess.run([write_logits, path, str(CHUNK), out], check=True, stdout=subprocess.DEVNULL)
        ids = [int(line) for line in (path / "ids").read_text().split()]
        errors = []
        for model in (out, plain):
            expected = in_own_process(engine_logits, engine, model, ids, CHUNK)
            if isinstance(expected, str):
                return count, expected
            found = np.fromfile(out.with_suffix(".logits"), "<f4").reshape(expected.shape)
            errors.append(largest_error(found, expected))
        return count, errors


def main():
    write_logits, program = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    try:
        engine = Engine(os.environ.get("INGOT_GGML_CPU"))
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    faults = 0
    for name, kind in FOLDERS:
        count, errors = compare(engine, write_logits, program, name, kind)
        is_right = count > 0 and not isinstance(errors, str) and errors[0] <= QUANTIZED_LIMIT and errors[1] <= LIMIT
        faults += not is_right
        shown = errors if isinstance(errors, str) else "largest difference {:.1e}, as floats {:.1e}".format(*errors)
        print(f"{name:12} {count} of {kind:5} {shown}{'' if is_right else '  WRONG'}", flush=True)
    print(f"{len(FOLDERS)} folders, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
