#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""load_in_engine.py PROGRAM [CLASS...]: what PROGRAM imports, loaded by llama.cpp.

The folders are the cases of golden/hf and golden/hf2 in $INGOT_SHARED, and samples of every class
of the import's rules (class_samples.py), unless golden/hf2 has the only samples of it. Skips (77)
without the engine (bench/install_ggml) or the cases.
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "evaluation"))
from class_samples import CLASS_RULES, samples_of  # noqa: E402
from llama_engine import ROOT, Engine, EngineMissing  # noqa: E402

CASES = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared") / "golden/hf/cases"
LATER_CASES = CASES.parents[1] / "hf2/cases"
NO_MODEL = {"lora-llama": "an adapter needs its base"}
# Sample -> a part of the error, and why the import is right all the same. The folders of the cases are small, and
# some have sizes that no checkpoint has.
EXCEPTIONS = {
    "bailingmoe2": ("'blk.0.attn_qkv.weight' has wrong shape",
                    "the engine takes heads that are together as wide as a layer, as those of Ling 2 are"),
    "cogvlm": ("'blk.0.attn_qkv.weight' has wrong shape",
               "the engine takes as many heads of keys as of queries, as CogVLM has"),
    "command-r": ("wrong number of tensors",
                  "the engine reads the norms of queries and keys only in models of 64 layers, as Command R+ has"),
    "deepseek4": ("'blk.2.attn_compressor_kv.weight' has wrong shape",
                  "the engine takes compressors of every 128th position half as wide as others, as DeepSeek V4 has"),
    "deepseek32": ("it ends the program",
                   "the engine turns the heads of the indexer by a matrix of 64 rows or more; checkpoints have 128"),
    "ernie4.5-moe": ("'blk.1.ffn_gate_shexp.weight' has wrong shape",
                     "the engine takes shared experts as wide as intermediate_size / num_key_value_heads, as those "
                     "of Ernie 4.5 are"),
    "gemma3n": ("'per_layer_token_embd.weight' has wrong shape",
                "the engine takes 256 numbers for each layer, as all checkpoints have"),
    "gemma4-assistant": ("requires ctx_other", "a draft runs beside the context of its model alone"),
    "grok": ("'blk.0.attn_q.weight' has wrong shape",
             "the engine takes heads that are together as wide as a layer, as those of Grok are"),
    "kimi-vl": ("key not found in model: deepseek2.attention.q_lora_rank",
                "the engine takes models without this rank if they have 26 or 27 layers, as Kimi-VL has"),
    "modern-bert": ("key not found in model: modern-bert.attention.layer_norm_epsilon",
                    "config.json of ModernBERT has layer_norm_eps, this one not"),
    "MPTForCausalLM 3": ("it ends the program", "it makes no graph with norms of queries and keys of MPT: it "
                                                "reshapes a view that is not contiguous"),
}
# Class -> a case of another class with the same files.
SAME_FILES = {"Lfm2BidirectionalModel": "lfm2-colbert"}
# Classes of which there is neither a case nor a sample; PLaMo has the sizes of its model with 13 billion weights alone.
NO_SAMPLE = {"Rwkv6ForCausalLM", "PlamoForCausalLM"}
# Architectures of which the engine wants an output. Their checkpoints do not share the embedding.
NEVER_TIED = {"baichuan", "gpt-oss", "gptneox", "internlm2", "llada-moe", "mellum", "nemotron", "olmo2", "olmoe",
              "orion", "phi2", "qwen2moe", "stablelm", "xverse"}


def exception(sample):
    model_class, *rest = sample.split()
    if "tied" in rest and CLASS_RULES[model_class]["architecture"] in NEVER_TIED:
        return "'output.weight' not found", "the engine wants an output, which checkpoints have"
    return EXCEPTIONS.get(sample, ("", ""))


def error_of(engine, path):
    """What the engine says against a model; nothing if it loads it and makes a context."""
    engine.last_error = ""
    model = engine.llama.llama_model_load_from_file(os.fsencode(path),
                                                    engine.llama.llama_model_default_params())
    if not model:
        return engine.last_error or "not loaded"
    context = engine.llama.llama_init_from_model(ctypes.c_void_p(model),
                                                 engine.context_params(64, 1))
    if context:
        engine.llama.llama_free(ctypes.c_void_p(context))
    engine.llama.llama_model_free(ctypes.c_void_p(model))
    return "" if context else engine.last_error or "no context"


def error_apart(engine, path):
    """The same in a process of its own: a model that the engine does not expect may end the program."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, error_of(engine, path).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        error = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return error if status == 0 else "it ends the program"


class ErrorKeepingEngine(Engine):
    """Keeps the first error: the last says only that loading failed. Dots show progress."""

    def __setattr__(self, name, value):
        if name == "last_error" and value and (value == "." or getattr(self, "last_error", "")):
            return
        super().__setattr__(name, value)


def golden_samples():
    """Name -> folder and pre-tokenizer."""
    samples = {}
    for case in sorted(CASES.iterdir()):
        if case.name not in NO_MODEL:
            pre = json.loads((case / "expected.json").read_text())["pre"]
            samples[case.name] = (next(path for path in case.iterdir() if path.is_dir()), pre)
    return samples


def later_samples():
    """Entry of the rules -> its cases of golden/hf2: pairs of a folder and a pre-tokenizer."""
    samples = {}
    for case in sorted(LATER_CASES.iterdir()):
        expected = json.loads((case / "expected.json").read_text())
        folder = case / expected["input"]
        config = json.loads((folder / "config.json").read_text())
        model_class = config["architectures"][0]
        is_text = any(":" not in output for output in expected["outputs"])
        if is_text and model_class in CLASS_RULES and "target" not in expected:
            entry = CLASS_RULES[model_class]["entry"]
            samples.setdefault(entry, []).append((folder, expected["pre"]))
    return samples


def as_class(model_class, folder):
    """A copy of the case that has the same files, as that class."""
    case, = (path for path in (LATER_CASES / SAME_FILES[model_class]).iterdir() if path.is_dir())
    shutil.copytree(case, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").chmod(0o644)
    (folder / "config.json").write_text(json.dumps({**config, "architectures": [model_class]}))
    return folder


def import_model(program, folder, out, pre):
    options = ["--force", "-q", *(["--pre", pre] if pre else [])]
    subprocess.run([program, "convert", folder, out, *options], check=True)


def main():
    program, *wanted = sys.argv[1:]
    try:
        engine = ErrorKeepingEngine()
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    if not CASES.is_dir():
        print(f"skipped: there is no {CASES}")
        return 77
    faults = count = 0
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "out.gguf"

        def try_sample(sample, folder, pre):
            nonlocal faults, count
            try:
                import_model(program, folder, out, pre)
                error = error_apart(engine, out)
            except subprocess.CalledProcessError:
                error = "not imported"
            part, reason = exception(sample)
            is_right = part in error if part else not error
            print(f"{sample:40} {error or 'loads'}{' as expected: ' + reason if reason else ''}"
                  f"{'' if is_right else '  WRONG'}")
            faults += not is_right
            count += not error

        for sample, (folder, pre) in golden_samples().items():
            if not wanted:
                try_sample(sample, folder, pre)
        later = later_samples() if LATER_CASES.is_dir() else {}
        for entry, cases in later.items():
            for folder, pre in cases if not wanted or entry in wanted else []:
                try_sample(folder.parent.name, folder, pre)
        for model_class in wanted or CLASS_RULES:
            samples = list(samples_of(model_class))
            if model_class in SAME_FILES and LATER_CASES.is_dir():
                try_sample(model_class, as_class(model_class, pathlib.Path(name) / model_class), "qwen2")
                continue
            is_draft = CLASS_RULES[model_class].get("draft", False)  # of another model
            is_without = is_draft or model_class in NO_SAMPLE
            if not samples and not is_without and CLASS_RULES[model_class]["entry"] not in later:
                print(f"{model_class:40} has no sample  WRONG")
                faults += 1
            for sample, made in samples:
                made.write(pathlib.Path(name) / sample.replace(" ", "-"), CASES)
                try_sample(sample, pathlib.Path(name) / sample.replace(" ", "-"), "qwen2")
    print(f"{count} models loaded, {faults} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
