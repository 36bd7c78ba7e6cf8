#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""engine.py WRITE_LOGITS PROGRAM [ARCHITECTURE...]: the forward pass beside that of llama.cpp.

Compares the logits of tiny models, which WRITE_LOGITS computes, with those of an engine that
bench/install_ggml installs; then those of the sample that PROGRAM makes of every architecture which
it can evaluate (or of those named), at two lengths, in F32 and Q8_0, and with other keys; then, where $INGOT_SHARED has a trained model, the
perplexity that PROGRAM states of it and of quantized copies with the engine's. Without the engine
it skips (77). $INGOT_GGML_CPU names one of the engine's variants ("x64") instead of the best.
"""
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is missing")
    sys.exit(77)

from encoder_reference import ENCODERS, GELU_ENCODERS
from llama_engine import ROOT, Engine, EngineMissing, EngineModel
from reference import read_gguf

SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
CHUNK = 40
LIMIT = 1e-4  # of the largest logit of a token
# The engine takes GELU from a table of binary16.
GELU_LIMIT = 2e-3
GELU = (*GELU_ENCODERS, "modern-bert", "bloom", "codeshell", "falcon", "gemma", "gpt", "mpt", "phi2", "starcoder")
# Their attention is sharp, which makes the table's rounding count more.
# Of qwen2vl the engine reads no epsilon.
LIMITS = {"gemma3n": 6e-3, "gemma4": 6e-3, "qwen2vl": 1e-3}
SAMPLE_CHUNKS = (40, 70)
# Keys of samples that are set besides those of their rows, to reach what short texts do not.
YARN = ("rope.scaling.type:string=yarn", "rope.scaling.factor:f32=4",
        "rope.scaling.original_context_length:u32=64")
WIDE_BASE = ("rope.freq_base:f32=500000",)
POOLINGS = tuple((f"pooling_type:u32={kind}",) for kind in (0, 1, 2, 3))
SAMPLE_KEYS = {
    "": ((), YARN),
    "bailingmoe": (("expert_weights_norm:bool=true", "expert_weights_scale:f32=2.5"),),
    "bailingmoe2": (("expert_weights_norm:bool=true", "expert_group_count:u32=2",
                     "expert_group_used_count:u32=1", "expert_used_count:u32=1"),),
    "deepseek2": ((*YARN, "rope.scaling.yarn_log_multiplier:f32=0.07"),),
    "granitehybrid": (("embedding_scale:f32=3", "residual_scale:f32=0.4", "attention.scale:f32=0.2",
                       "logit_scale:f32=2", "rope.scaling.finetuned:bool=false"),),
    "granitemoe": (("embedding_scale:f32=3", "residual_scale:f32=0.4", "attention.scale:f32=0.2"),),
    "bert": POOLINGS,
    "gemma-embedding": (*POOLINGS, WIDE_BASE),
    "gemma3n": (WIDE_BASE,),
    "gemma4": (WIDE_BASE,),
    "modern-bert": (*POOLINGS, ("hidden_activation:string=silu",), WIDE_BASE),
    "mamba": (("ssm.dt_b_c_rms:bool=true",),),
    "minicpm": (("embedding_scale:f32=3", "residual_scale:f32=0.4", "logit_scale:f32=2"),),
    "mistral3": (("attention.temperature_scale:f32=0.3", *YARN),),
    "mpt": (("attention.clamp_kqv:f32=0.5",),),
    "nemotron_h_moe": (("expert_weights_norm:bool=true", "expert_weights_scale:f32=2.5"),),
    "olmo": (("attention.clamp_kqv:f32=0.5",),),
}
# Of these the engine computes a part only with so many layers, or with another window than the key's.
SAMPLE_OPTIONS = {"baichuan": ("--layers", "32"), "smallthinker": ("--layers", "8")}
FIXED_WINDOWS = ("smallthinker",)
# The engine rounds activations to 8 bits where weights are quantized.
QUANTIZED_LIMIT = 2e-3
PERPLEXITY_LIMIT = 2e-4
TRAINED_CHUNK = 128
TRAINED_CHUNKS = 32


def engine_logits(engine, path, ids, chunk=CHUNK):
    model = EngineModel(engine, path, chunk)
    rows = [np.array(model.decode(part)) for part in model.chunks(ids)]
    model.close()
    return np.concatenate(rows).reshape(len(ids), -1)


def engine_vectors(engine, path, ids, chunk):
    """Of an embedding model."""
    model = EngineModel(engine, path, chunk)
    rows = [np.array(model.embed(ids[at:at + chunk])).reshape(-1, model.width())
            for at in range(0, len(ids), chunk)]
    model.close()
    return np.concatenate(rows)


def largest_error(found, expected):
    return (np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)).max()


def compare_logits(engine, write_logits):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([write_logits, folder], check=True)
        folder = pathlib.Path(folder)
        ids = [int(line) for line in (folder / "ids").read_text().split()]
        paths = sorted(folder.glob("*.gguf"))
        assert len(paths) >= 13, "too few architectures"
        for path in paths:
            try:
                expected = engine_logits(engine, path, ids)
            except RuntimeError as error:
                print(f"{path.stem:20} {error}  WRONG")
                failed = True
                continue
            found = np.fromfile(path.with_suffix(".logits"), "<f4").reshape(expected.shape)
            error = largest_error(found, expected)
            is_right = error <= (GELU_LIMIT if path.stem.startswith("gemma") else LIMIT)
            print(f"{path.stem:20} largest difference {error:.1e}{'' if is_right else '  WRONG'}")
            failed |= not is_right
    return failed


def in_own_process(work, *arguments):
    """The result of work, or the text of its error: some faults end the engine."""
    reader, writer = multiprocessing.Pipe(duplex=False)

    def run():
        try:
            writer.send(work(*arguments))
        except RuntimeError as error:
            writer.send(str(error))

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    writer.close()
    try:
        return reader.recv()
    except EOFError:
        return "the engine aborts"
    finally:
        process.join()


def edit_sample(program, name, path, keys):
    """Sets keys of a sample; its window becomes shorter than the text."""
    if name not in FIXED_WINDOWS and f"{name}.attention.sliding_window" in read_gguf(path)[0]:
        keys = ("attention.sliding_window:u32=12", *keys)
    sets = [word for key in keys for word in ("--set", f"{name}.{key}")]
    if sets:
        subprocess.run([program, "edit", path, *sets, "--in-place", "-q"], check=True)


def compare_sample(engine, write_logits, program, name, folder):
    """The largest error of a sample and its variants; a text if something fails."""
    path, plain = folder / "sample.gguf", folder / "plain.gguf"
    errors = []
    for number, keys in enumerate((*SAMPLE_KEYS[""], *SAMPLE_KEYS.get(name, ()))):
        # The engine rounds activations where weights are of 8 bits, so it gets them as floats.
        kind = "Q8_0" if number % 2 else "F32"
        subprocess.run([program, "sample", "--architecture", name, "--type", kind, path, "--force",
                        "-q", *SAMPLE_OPTIONS.get(name, ())], check=True)
        edit_sample(program, name, path, keys)
        subprocess.run([program, "quantize", path, plain, "F32", "--force", "-q"], check=True)
        for chunk in SAMPLE_CHUNKS:
            done = subprocess.run([write_logits, folder, str(chunk), path], capture_output=True)
            if done.returncode:
                return done.stderr.decode().strip()
            ids = [int(line) for line in (folder / "ids").read_text().split()]
            run = engine_vectors if name in ENCODERS else engine_logits
            expected = in_own_process(run, engine, plain, ids, chunk)
            if isinstance(expected, str):
                return expected
            found = np.fromfile(path.with_suffix(".logits"), "<f4").reshape(expected.shape)
            errors.append(largest_error(found, expected))
    return errors


def compare_samples(engine, write_logits, program, names):
    if not names:
        rows = json.loads(subprocess.run([program, "architectures", "--json"], check=True,
                                         capture_output=True).stdout)
        names = [row["name"] for row in rows if row["evaluate"]]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            errors = compare_sample(engine, write_logits, program, name, pathlib.Path(folder))
            limit = LIMITS.get(name, GELU_LIMIT if name.startswith(GELU) else LIMIT)
            is_right = not isinstance(errors, str) and max(errors) <= limit
            shown = errors if isinstance(errors, str) else " ".join(f"{e:.1e}" for e in errors)
            print(f"sample of {name:16} {shown}{'' if is_right else '  WRONG'}", flush=True)
            failed |= not is_right
    return failed


def engine_perplexity(engine, path, text):
    """Of the second half of each chunk, as ours."""
    model = EngineModel(engine, path, TRAINED_CHUNK)
    losses = []
    first = TRAINED_CHUNK // 2
    for number, chunk in enumerate(model.chunks(model.tokenize(text))):
        if number == TRAINED_CHUNKS:
            break
        logits = np.array(model.decode(chunk, first), dtype=np.float64)
        logits = logits.reshape(TRAINED_CHUNK - first, -1)[:-1]
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        losses.append(-logits[np.arange(len(logits)), chunk[first + 1:]].mean())
    model.close()
    return math.exp(np.mean(losses))


def compare_perplexities(engine, program):
    base = SHARED / "golden" / "eval" / "tiny-bytes-f32.gguf"
    text = base.with_name("tiny-bytes-heldout.txt")
    if not base.is_file():
        print(f"no perplexities: there is no {base}")
        return False
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        limits = {base: PERPLEXITY_LIMIT, base.with_name("tiny-hybrid-f32.gguf"): PERPLEXITY_LIMIT}
        # The engine rounds activations where weights are F16, too, and that changes some experts.
        for source, kind, limit in ((base.with_name("tiny-moe-f16.gguf"), "F32", PERPLEXITY_LIMIT),
                                    (base, "Q8_0", QUANTIZED_LIMIT), (base, "Q4_K", QUANTIZED_LIMIT)):
            path = pathlib.Path(folder) / f"{source.stem}-{kind}.gguf"
            subprocess.run([program, "quantize", source, path, kind], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            limits[path] = limit
        for path, limit in limits.items():
            answer = subprocess.run(
                [program, "evaluate", path, "--text", text, "--ctx-size", str(TRAINED_CHUNK),
                 "--chunks", str(TRAINED_CHUNKS), "--json"], check=True, stdout=subprocess.PIPE)
            found = json.loads(answer.stdout)["base"]["perplexity"]
            expected = engine_perplexity(engine, path, text.read_bytes())
            is_right = abs(found / expected - 1) <= limit
            print(f"{path.stem:20} perplexity {found:.4f}, of the engine {expected:.4f}: "
                  f"{found / expected - 1:+.3%}{'' if is_right else '  WRONG'}")
            failed |= not is_right
    return failed


def main():
    write_logits, program, *names = sys.argv[1:]
    try:
        engine = Engine(os.environ.get("INGOT_GGML_CPU"))
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    failed = compare_samples(engine, write_logits, program, names)
    if names:
        return failed
    failed |= compare_logits(engine, write_logits)
    return failed | compare_perplexities(engine, program)


if __name__ == "__main__":
    sys.exit(main())
