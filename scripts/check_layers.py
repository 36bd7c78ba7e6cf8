#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers.py FOLDER [--may-use MODULE...]

Fails on every #include in FOLDER of a file of this project that is neither FOLDER's own, nor a
public header (include/), nor in an allowed module (src/MODULE). Run from the root of the tree.
What is not in the tree is somebody else's header, and allowed.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
KINDS = {".cpp", ".hpp", ".h", ".c", ".def"}


def find_in_tree(name, includer):
    """The file of this tree that `name` means: looked for as the compiler does, and everywhere
    else where the project keeps code, so that a detour is found too."""
    for base in (includer.parent, "src", "include", "tools", "tools/ingot", "tests", "."):
        path = pathlib.Path(base, name)
        if path.is_file():
            return path.resolve().relative_to(pathlib.Path.cwd())
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--may-use", nargs="*", default=[])
    arguments = parser.parse_args()

    allowed = [arguments.folder, pathlib.Path("include")]
    allowed += [pathlib.Path("src", module) for module in arguments.may_use]

    files = [path for path in sorted(arguments.folder.rglob("*")) if path.suffix in KINDS]
    if not files:
        sys.exit(f"{arguments.folder}: no source files here")
    wrong_count = 0
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and find_in_tree(match[1], path)
            if target and not any(target.is_relative_to(place) for place in allowed):
                places = " ".join(map(str, allowed))
                print(f"{path}:{number}: includes {target}; allowed are: {places}")
                wrong_count += 1
    sys.exit(1 if wrong_count else 0)


if __name__ == "__main__":
    main()
