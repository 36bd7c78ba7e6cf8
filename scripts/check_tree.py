#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_tree.py: rules about the files of the tree as such. Run from the root of the tree.

  SPDX    every file that can have comments says its licence in the first lines
  ASCII   no other characters; no tabs or blanks at line ends
  listed  every source is named in the CMakeLists.txt that is responsible for it
  size    no file of the library or the program is longer than 400 lines, unless a script writes it;
          none of their folders holds more than 40 files
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

SOURCES = {".cpp", ".c"}
# Prose and data have no place for a comment that a reader would not stumble over.
WITHOUT_SPDX = {".md", ".json", ".exact", ".txt.in"}
# Content is what these are about, so it is left alone.
CONTENT = ("tests/corpus/valid/", "tests/corpus/invalid/", "tests/golden/", "fuzz/corpus/")
MAX_LINES = 400
MAX_FILES = 40
LICENCE = "SPDX-License-Identifier: MIT"


def tree():
    """Every file that is, or would be, under version control; without git, every file."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:
        names = [os.path.relpath(os.path.join(folder, name))
                 for folder, _, files in os.walk(".") for name in files]
    paths = {pathlib.Path(name) for name in names if name}
    return sorted(path for path in paths if path.is_file() and path.parts[0] not in (".git", "build"))


def check_text(path):
    if path.suffix == ".png":
        return
    content = path.read_bytes()
    if path.suffix not in WITHOUT_SPDX and path.name != "LICENSE":
        if LICENCE not in content[:400].decode("latin-1"):
            yield f"{path}:1: begin the file with a comment: {LICENCE}"
    for number, line in enumerate(content.split(b"\n"), 1):
        # Pages may show what the program prints.
        if path.suffix != ".md" and any(byte > 126 or (byte < 32 and byte != 9) for byte in line):
            yield f"{path}:{number}: a character that is not printable ASCII"
        if line.endswith((b" ", b"\t")) and path.suffix != ".exact":
            yield f"{path}:{number}: blanks at the end of the line"
    if content and not content.endswith(b"\n") and path.suffix != ".exact":
        yield f"{path}: no newline at the end"


def check_listed(paths):
    """Public headers are listed with the library, commands in their table, and other sources in
    the nearest CMakeLists.txt above them: a name as often as there are files of that name."""
    listed = collections.defaultdict(list)
    for path in paths:
        if path.parts[0] == "include":
            place, names = pathlib.Path("src/CMakeLists.txt"), {path.name}
        elif path.name.startswith("command_"):
            place, names = pathlib.Path("tools/ingot/commands.def"), {path.stem.removeprefix("command_")}
        elif path.suffix in SOURCES and path.name != "replay_main.cpp":  # a part of each fuzz target
            place = next((folder / "CMakeLists.txt" for folder in path.parents
                          if (folder / "CMakeLists.txt").is_file()), None)
            # Names there may start with folders; ingot_fuzz(<stem>) takes the stem.
            names = {path.name, path.stem}
        else:
            continue
        listed[place, frozenset(names)].append(path)
    for (place, names), files in listed.items():
        text = place.read_text(encoding="utf-8") if place else ""
        count = sum(word in names for word in re.split(r"[\s()/]+", text))
        if count < len(files):
            yield f"{files[-1]}: not named in {place}, so it is neither built nor installed"


def check_sizes(paths):
    counts = collections.Counter()
    for path in paths:
        if path.parts[0] not in ("src", "tools"):
            continue
        counts[path.parent] += 1
        lines = path.read_text(encoding="utf-8").split("\n")
        if len(lines) > MAX_LINES + 1 and not any("writes this file" in line for line in lines[:5]):
            yield f"{path}: {len(lines) - 1} lines; at most {MAX_LINES}"
    for folder, count in counts.items():
        if count > MAX_FILES:
            yield f"{folder}: {count} files; at most {MAX_FILES}"


def main():
    paths = [path for path in tree() if not str(path).startswith(CONTENT)]
    findings = list(check_listed(paths)) + list(check_sizes(paths))
    for path in paths:
        findings += check_text(path)
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
