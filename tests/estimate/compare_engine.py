#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""compare_engine.py WRITE_LOGITS PROGRAM: what `PROGRAM fit` says beside what llama.cpp allocates.

The models are the tiny ones of all architectures that WRITE_LOGITS writes, the same with windows in
all layers, and those of graph_models.py. The engine, which bench/install_ggml installs, only pretends
to allocate. Without it the test skips (77).

compare_engine.py --record: writes what the engine allocates for the models of graph_models.py to
graph_figures.json, which compare_figures.py reads.
"""
import ctypes
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "evaluation"))
from graph_models import OPTIONS as GRAPH_OPTIONS, write_models  # noqa: E402
from llama_engine import Engine, EngineMissing  # noqa: E402

FIGURES = pathlib.Path(__file__).resolve().parent / "graph_figures.json"

SHARE = 0.02
SLACK = 64 << 10  # bytes; the engine prints two digits of a MiB
GGML_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8}
RANDOM_RUNS = 6  # of each model of graph_models.py
OPTIONS = [
    {},
    {"ctx-size": 16384},
    {"ctx-size": 512, "ubatch-size": 128},
    {"flash-attn": "off"},
    {"parallel": 3},
    {"parallel": 4, "kv-unified": True},
    {"cache-type-k": "q8_0", "flash-attn": "off"},
    {"cache-type-k": "q8_0", "cache-type-v": "q4_0"},
]


class MeasuringEngine(Engine):
    """Keeps its log; loads models without memory for them."""

    def keep_quiet(self, ggml):
        super().keep_quiet(ggml)
        keep_error = self.receiver
        self.log = ""

        def receive(level, text, data):
            self.log += text.decode(errors="replace")
            keep_error(level, text, data)

        self.collector = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p,
                                          ctypes.c_void_p)(receive)
        self.llama.llama_log_set(self.collector, None)

    def open_model(self, path):
        params = self.llama.llama_model_default_params()
        # All layers on devices, split by layers; the mode of loading; then five switches.
        known = (struct.unpack_from("<iii", params.bytes, 16) == (-1, 1, -1)
                 and bytes(params.bytes)[72:77] == b"\0\0\1\0\0")
        if not known:
            raise EngineMissing("this version of llama.cpp has parameters that are not known")
        params.set(24, 0)  # read, not mapped
        params.bytes[76] = 1  # pretend
        model = self.llama.llama_model_load_from_file(os.fsencode(path), params)
        if not model:
            raise RuntimeError(f"{path}: {self.last_error}")
        return ctypes.c_void_p(model)

    def measure(self, model, options):
        """Bytes of cache and work space; nothing if the engine refuses the options."""
        params = self.context_params(options["ctx-size"], 1)
        cache_types = 104
        for at, value in ((4, options.get("batch-size", 2048)), (8, options.get("ubatch-size", 512)),
                          (12, options.get("parallel", 1)),
                          (52, {"auto": -1, "on": 1, "off": 0}[options.get("flash-attn", "auto")]),
                          (cache_types, GGML_TYPES[options.get("cache-type-k", "f16")]),
                          (cache_types + 4, GGML_TYPES[options.get("cache-type-v", "f16")])):
            params.set(at, value)
        params.bytes[132] = 0  # windows are as long as they need to be
        params.bytes[133] = options.get("kv-unified", False)
        self.log = ""
        context = self.llama.llama_init_from_model(model, params)
        if not context:
            return None
        self.llama.llama_free(ctypes.c_void_p(context))
        compute = re.search(r"CPU compute buffer size = +([\d.]+) MiB", self.log)
        caches = re.findall(r"llama_(?:kv_cache|memory_recurrent): size = +([\d.]+) MiB", self.log)
        return [round(sum(map(float, found)) * 2**20) for found in ([compute[1]], caches)]


def estimate(program, path, options):
    arguments = []
    for name, value in options.items():
        arguments += [f"--{name}"] + ([] if value is True else [str(value)])
    done = subprocess.run([program, "fit", path, "--json", *arguments], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return None
    host = json.loads(done.stdout)["host"]
    return [host["compute_bytes"], host["cache_bytes"]]


def add_variants(program, folder):
    """Windows in all layers, as models with few layers have them."""
    for name, key in (("gemma3", "gemma3.attention.sliding_window_pattern"),
                      ("olmo2", "olmo2.attention.sliding_window_pattern")):
        subprocess.run([program, "edit", folder / f"{name}.gguf", "--set", f"{key}=100", "--set",
                        f"{name}.attention.sliding_window=300", "--output",
                        folder / f"{name}-windows.gguf", "-q"], check=True)


def is_near(found, measured):
    return abs(found - measured) <= max(SHARE * measured, SLACK)


def compare(engine, program, path, changes):
    model = engine.open_model(path)
    failed, compared = False, 0
    for change in changes:
        options = {"ctx-size": 4096, **change}
        found = estimate(program, path, options)
        compared += 1
        # The engine refuses by a message, or here by the end of its process.
        if found is None and options.get("flash-attn") == "off":
            continue
        measured = engine.measure(model, options)
        if measured is None or found is None:
            is_right = measured == found
        else:
            is_right = all(is_near(*pair) for pair in zip(found, measured))
        if not is_right:
            print(f"{path.stem}, {options}: {found}, the engine: {measured}  WRONG")
            failed = True
    engine.llama.llama_model_free(model)
    return failed, compared


def random_options(seed):
    """Options as users mix them; the same for a seed."""
    chance = random.Random(seed)
    flash = chance.choice(["auto", "on", "off"])
    keys = chance.choice(["f16", "f16", "f32", "q8_0", "q4_0"])
    values = "f16" if flash == "off" else keys
    return {"ctx-size": chance.choice([512, 1000, 2048, 5000, 8192, 32768]),
            "batch-size": chance.choice([256, 2048, 2048]),
            "ubatch-size": chance.choice([64, 100, 512, 512, 2048]),
            "parallel": chance.choice([1, 1, 2, 3, 4]), "flash-attn": flash,
            "cache-type-k": keys, "cache-type-v": values,
            **({"kv-unified": True} if chance.random() < 0.3 else {})}


def record(engine, paths):
    """What the engine allocates to compute, in bytes; null if it refuses."""
    figures = {}
    for name, path in paths.items():
        model = engine.open_model(path)
        figures[name] = []
        for change in GRAPH_OPTIONS:
            measured = engine.measure(model, {"ctx-size": 4096, **change})
            figures[name].append(measured and measured[0])
        engine.llama.llama_model_free(model)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in figures.items())
    FIGURES.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def main():
    try:
        engine = MeasuringEngine()
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    if sys.argv[1:] == ["--record"]:
        with tempfile.TemporaryDirectory() as name:
            record(engine, write_models(pathlib.Path(name)))
        return 0
    write_logits, program = sys.argv[1:3]
    failed, total = False, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([write_logits, folder], check=True)
        add_variants(program, folder)
        made = write_models(folder).values()
        for path in sorted(folder.glob("*.gguf")):
            seeds = [f"{path.stem} {number}" for number in range(RANDOM_RUNS)]
            mixed = [random_options(seed) for seed in seeds] if path in made else []
            try:
                is_wrong, compared = compare(engine, program, path, OPTIONS + mixed)
            except EngineMissing as error:
                print(f"skipped: {error}")
                return 77
            failed |= is_wrong
            total += compared
    print(f"{total} runs compared")
    assert total >= 450, "too few models"
    return failed


if __name__ == "__main__":
    sys.exit(main())
