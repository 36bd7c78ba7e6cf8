#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every whole program quoted in the documentation is one of examples/, word for word."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = re.compile(r"^```c(?:pp)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    # Without the licence line, which a page needs once.
    examples = {
        path.read_text(encoding="utf-8").partition("\n")[2]: path.name
        for path in (ROOT / "examples").glob("*.c*")
    }
    wrong = [
        f"{page.relative_to(ROOT)}: a program that is not in examples/: {program.splitlines()[0]}"
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        for program in PROGRAM.findall(page.read_text(encoding="utf-8"))
        if "int main(" in program and program not in examples
    ]
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
