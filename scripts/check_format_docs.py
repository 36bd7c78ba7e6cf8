#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every rule of docs/format.md names a test, and that every test it names is there."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", re.MULTILINE)
NAME = re.compile(r"`([A-Z]\w*\.[A-Z]\w*)`")


def main():
    tests = {
        f"{suite}.{name}"
        for path in (ROOT / "tests").rglob("*_test.cpp")
        for suite, name in TEST.findall(path.read_text(encoding="utf-8"))
    }
    complaints = []
    is_rule = False
    text = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        complaints += [f"{number}: there is no test {name}" for name in NAME.findall(line) if name not in tests]
        if not line.startswith("|"):
            is_rule = False
        elif line.rstrip(" |").endswith("| test"):
            is_rule = True
        elif is_rule and not line.startswith("| ---") and not NAME.search(line):
            complaints.append(f"{number}: the rule names no test")
    for complaint in complaints:
        print(f"docs/format.md:{complaint}")
    sys.exit(1 if complaints else 0)


main()
