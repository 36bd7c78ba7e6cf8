#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""extract_blocks.py OUT.cpp: makes a program of the C++ in README.md, the pages of docs/ and the
comments of public headers.

Each page becomes a function that runs its blocks one after the other; a block sees the names of those
before it. What a block gets as a Result must have succeeded. Whole programs are left out: these are
quoted from examples/ (check_quotes.py), where they are built and run.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMENT_MARK = re.compile(r"^// ?", re.MULTILINE)
BLOCK = re.compile(r"^```(?:c|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# "const auto name = ...", "ingot::Result<ingot::ModelEdit> name = ...", at the beginning of a line
RESULT = re.compile(r"^(?:const )?(?:auto|ingot::Result<.*>) (\w+) = ", re.MULTILINE)


def blocks(page):
    """(line number, code) of each."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".hpp":
        text = COMMENT_MARK.sub("", text)
    for match in BLOCK.finditer(text):
        if "int main(" not in match[1]:
            yield text.count("\n", 0, match.start()) + 2, match[1]


INCLUDE = re.compile(r"^#include <.*>$", re.MULTILINE)


def function_of(page):
    """(name, code without its includes, number of blocks) of the function of a page."""
    path = page.resolve().relative_to(ROOT)
    name = re.sub(r"\W", "_", path.name)
    lines, count = [], 0
    for number, code in blocks(page):
        count += 1
        lines += ["{", f'#line {number} "{path}"', INCLUDE.sub("", code).rstrip()]
        for result in RESULT.findall(code):
            lines.append(f'require({result}, "{path}:{number}: {result}");')
    return name, "\n".join([f"void run_{name}() {{", *lines, "}" * count, "}"]), count


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "include/ingot").glob("*.hpp"))]
    functions = [function_of(page) for page in pages]
    functions = [(name, code) for name, code, count in functions if count > 0]
    includes = {line for page in pages for _, code in blocks(page) for line in INCLUDE.findall(code)}
    text = ['#include "docs/blocks.hpp"', *sorted(includes), "namespace ingot::test {", "namespace {"]
    text += [code for _, code in functions]
    text += ["}", "void run_blocks() {", *[f"run_{name}();" for name, _ in functions], "}", "}"]
    pathlib.Path(sys.argv[1]).write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
