#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_vision_folders.py PROGRAM [--only CLASS] | --write DIRECTORY

Makes tiny folders of models that see (vision_folders.py), imports their projectors, and compares the
digests of the files with those of the reference converter, which vision_digests.json has: what it made
of the folders that --write makes, with the types auto and F16.
"""
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

from vision_folders import FOLDERS

TYPES = ("auto", "f16")


def numbers(name, count):
    """BF16 with seven bits after the first, so that F16 and F32 hold them; variances are above 0."""
    seed = sum(map(ord, name)) % 241
    low = 0x3f00 if name.endswith("running_var") else 0
    return b"".join(struct.pack("<H", low or bits(seed * (i + 3) * 7919 + i * i * 31)) for i in range(count))


def bits(number):
    number %= 1009
    return (number & 1) << 15 | 0x3c00 + (number >> 1)


def safetensors(shapes):
    header, data = {}, []
    at = 0
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + 2 * count]}
        data.append(numbers(name, count))
        at += 2 * count
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data)


def write(directory, name):
    """Writes the folder of a class, and returns its path."""
    config, preprocessor, tensors = FOLDERS[name](name)
    folder = pathlib.Path(directory) / "Tiny"
    folder.mkdir(parents=True)
    for file, members in (("config.json", config), ("preprocessor_config.json", preprocessor)):
        (folder / file).write_text(json.dumps(members))
    for file, shapes in (tensors if None in tensors else {None: tensors}).items():
        path = folder / (file or "model.safetensors")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(json.dumps(shapes).encode() if path.suffix == ".json" else safetensors(shapes))
    return folder


def made(program, name, kind):
    """The digest of the file that is made of a class, or what went wrong."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "out.gguf"
        command = [program, "convert", write(directory, name), out, "--mmproj", "--type", kind, "-q", "-j", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip()[:400]
        return hashlib.sha256(out.read_bytes()).hexdigest()


def main(program, *options):
    if program == "--write":
        for name in FOLDERS:
            write(pathlib.Path(options[0]) / name, name)
        return 0
    expected = json.loads(pathlib.Path(__file__).with_name("vision_digests.json").read_text())
    wrong = 0
    for name in FOLDERS:
        if options and name != options[1]:
            continue
        for kind in TYPES:
            digest = made(program, name, kind)
            if digest != expected[name][kind]:
                wrong += 1
                print(f"{name} {kind}: {digest}, expected {expected[name][kind]}")
    print(f"{len(FOLDERS)} classes, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
