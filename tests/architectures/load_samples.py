#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""load_samples.py PROGRAM [NAME...] [--drop]: the sample of every architecture, loaded by llama.cpp.

A key or a tensor that is missing, a wrong shape, and a tensor too many fail. With --drop each
required key, and each required tensor of layer 0 and of the model, is taken away in turn, and the
engine has to refuse what is left. Skips (77) without the engine (bench/install_ggml).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "evaluation"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "huggingface/import"))
from llama_engine import EngineMissing, find_folder  # noqa: E402
from load_in_engine import ErrorKeepingEngine, error_of  # noqa: E402

# Architecture -> a part of the engine's error, and why the sample is right all the same.
EXCEPTIONS = {
    "clip": ("CLIP cannot be used as main model", "a projector is loaded beside a model"),
    "gptj": ("unsupported model architecture", "the engine knows the name and has no loader for it"),
}


def load(path):
    """The engine's error, from a process of its own: some faults end it."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        error = error_of(ErrorKeepingEngine(), path)
        os.write(writer, (error or "loads").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        result = pipe.read().decode()
    os.waitpid(process, 0)
    return result or "the engine aborts"


def loads_without(program, name, path):
    """What a row requires and the engine does not."""
    row = json.loads(subprocess.run([program, "architectures", name, "--json"], check=True,
                                    capture_output=True).stdout)
    def required(members):
        return [member["name"].replace("{i}", "0") for member in row[members]
                if member["required"] and "condition" not in member]
    less = path.with_name("less.gguf")
    edits = [("--remove", key if key.startswith(("tokenizer.", "xielu.")) else f"{name}.{key}")
             for key in required("keys")]
    edits += [("--remove-tensor", tensor) for tensor in dict.fromkeys(required("tensors"))]
    for option, what in edits:
        subprocess.run([program, "edit", path, option, what, "-o", less, "--force", "-q"],
                       check=True)
        if load(less) == "loads":
            yield what


def main():
    program, *wanted = [word for word in sys.argv[1:] if word != "--drop"]
    try:
        find_folder()
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    rows = json.loads(subprocess.run([program, "architectures", "--json"], check=True,
                                     capture_output=True).stdout)
    names = wanted or [row["name"] for row in rows if row["sample"]]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sample.gguf"
        for name in names:
            subprocess.run([program, "sample", "--architecture", name, path, "--force", "-q"],
                           check=True)
            result = load(path)
            part, reason = EXCEPTIONS.get(name, ("loads", ""))
            is_right = part in result
            drops = "--drop" in sys.argv and name not in EXCEPTIONS
            for what in loads_without(program, name, path) if drops else ():
                print(f"{name:20} loads without {what}  WRONG")
                faults += 1
            faults += not is_right
            print(f"{name:20} {result}{' as expected: ' + reason if reason else ''}"
                  f"{'' if is_right else '  WRONG'}")
    print(f"{len(names)} samples, {faults} faults")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
