#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers.py MODULE=HEADER,... [MODULE=HEADER,...]...
check_layers.py --program FOLDER
check_layers.py --floors FOLDER LOWEST...

Checks every #include of the first module (src/MODULE and its public HEADERs in include/ingot): it may
name files of that module, and of the other modules with their public headers. Each of those must be
named at least once. A file of src/FOLDER opens the namespaces ingot, ingot::detail and ingot::FOLDER,
and no other of ingot. A program may include its own FOLDER and every public header. A FOLDER with
floors has these folders, from the lowest on, and its own files above them: no file includes one from
a floor above. Run from the root of the tree. Headers that are not in the tree are always allowed, but for
those of the operating system: only src/system, FOLDER/system and the sockets of src/remote/http have them.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
NAMESPACE = re.compile(r"^namespace ingot::(\w+)")
# Headers by which one asks the operating system.
OF_SYSTEM = re.compile(r"^(sys|arpa|netinet|linux)/|^(bcrypt|dirent|dlfcn|fcntl|io|poll|pthread|sched|spawn|"
                       r"termios|unistd|windows)\.h$|^csignal$")
# ... and who may: the digests of Windows are a library like OpenSSL.
ROOMS = ("src/system", "tools/ingot/system", "src/remote/http", "src/digest/sha_windows.cpp")
KINDS = {".cpp", ".hpp", ".h", ".c", ".def"}
PUBLIC = pathlib.Path("include/ingot")
# A macro alone, which marks what any library exports.
OF_ALL = PUBLIC / "export.h"


def sources(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in KINDS]


def find_in_tree(name, includer):
    """The file of this tree that `name` means: searched as the compiler does, and in every other
    folder of code, so that a detour is found too."""
    for base in (includer.parent, "src", "include", "tools", "tools/ingot", "tests", "."):
        path = pathlib.Path(base, name)
        if path.is_file():
            return path.resolve().relative_to(pathlib.Path.cwd())
    return None


def includes(files):
    """(file, line number, included file of this tree)..."""
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and find_in_tree(match[1], path)
            if target:
                yield path, number, target


def check_rooms(folder):
    for path in sources(folder):
        if any(path.is_relative_to(room) for room in ROOMS):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and OF_SYSTEM.match(match[1]):
                yield f"{path}:{number}: includes {match[1]}; {folder} asks the system through {ROOMS[0]} or {ROOMS[1]}"


def check_program(folder):
    yield from check_rooms(folder)
    for path, number, target in includes(sources(folder)):
        if not target.is_relative_to(folder) and not target.is_relative_to("include"):
            yield f"{path}:{number}: includes {target}; allowed are {folder} and include"


def check_module(arguments):
    modules = {}  # name: public headers
    for argument in arguments:
        name, _, headers = argument.partition("=")
        modules[name] = {PUBLIC / header for header in headers.split(",") if header}
    own, unused = arguments[0].partition("=")[0], set(modules)
    files = sources(pathlib.Path("src", own))
    if not files:
        yield f"src/{own}: no source files here"
    unused.discard(own)
    for path, number, target in includes(files + sorted(modules[own])):
        owner = next((name for name, headers in modules.items()
                      if target in headers or target.is_relative_to(f"src/{name}")), None)
        if owner is None and target != OF_ALL:
            yield f"{path}:{number}: includes {target}; {own} may use {' '.join(modules)}"
        unused.discard(owner)
    for name in sorted(unused):
        yield f"src/CMakeLists.txt: {own} may use {name}, but does not"


def check_namespaces(folder):
    for path in sources(pathlib.Path("src", folder)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = NAMESPACE.match(line)
            if match and match[1] not in (folder, "detail"):
                yield f"{path}:{number}: namespace ingot::{match[1]}; here it is ingot::{folder}"


def check_floors(folder, floors):
    def floor_of(path):
        names = path.relative_to(folder).parts[:-1]
        return floors.index(names[0]) if names else len(floors)

    for path in sources(folder):
        if not {*path.relative_to(folder).parts[:-1][:1]} <= {*floors}:
            yield f"{path}: is on none of the floors {' '.join(floors)}"
            return
    for path, number, target in includes(sources(folder)):
        if target.is_relative_to(folder) and floor_of(target) > floor_of(path):
            yield f"{path}:{number}: includes {target}, which is on a floor above"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--floors", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.program:
        findings = list(check_program(arguments.program))
    elif arguments.floors:
        findings = list(check_floors(arguments.floors, arguments.names))
    else:
        own = arguments.names[0].partition("=")[0]
        findings = [*check_module(arguments.names), *check_namespaces(own.split("/")[0]),
                    *check_rooms(pathlib.Path("src", own))]
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
