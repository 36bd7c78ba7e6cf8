#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_gguf_py.py: compares the tables (include/ingot/*.def) with the constants of the Python
package `gguf`, which were written by others. Run from the root of the tree; 77 without the package.

What contradicts is an error. What only one of the two knows depends on the package's age, so what
the tables do not know is a note.
"""
import pathlib
import re
import sys

try:
    from gguf import constants
except ImportError:
    print("skipped: the Python package gguf is not installed")
    sys.exit(77)

# gguf-py counts two binary32 in this block, where ggml has two binary16.
KNOWN_WRONG = {"tensor type 9": ("Q8_1", 32, 40)}


def rows(table, macro):
    """The arguments of each row `macro(...)` of a table, without blanks and quotes."""
    text = pathlib.Path("include/ingot", table).read_text(encoding="utf-8")
    found = re.findall(rf"^{macro}\(([^)]*)\)", text, re.MULTILINE)
    if not found:
        sys.exit(f"{table}: no rows {macro}")
    return [[cell.strip(' "') for cell in row.split(",")] for row in found]


def ours():
    table = {}
    for identifier, _, name, elements, size, _ in rows("tensor_types.def", "INGOT_TENSOR_TYPE"):
        table[f"tensor type {identifier}"] = (name, int(elements), int(size))
    for identifier, _, name, _, _ in rows("value_types.def", "INGOT_VALUE_TYPE"):
        table[f"value type {identifier}"] = (name.upper(),)
    for number, name, _ in rows("file_types.def", "INGOT_FILE_TYPE"):
        table[f"file type {number}"] = (name,)
    return table


def theirs():
    table = {}
    for member, (elements, size) in constants.GGML_QUANT_SIZES.items():
        table[f"tensor type {int(member)}"] = (member.name, elements, size)
    for member in constants.GGUFValueType:
        table[f"value type {int(member)}"] = (member.name,)
    for member in constants.LlamaFileType:
        name = member.name.removeprefix("ALL_").removeprefix("MOSTLY_")
        if name != "GUESSED":  # a flag, not a type
            table[f"file type {int(member)}"] = (name,)
    return table


def main():
    our_table = ours()
    contradiction_count = 0
    for what, row in theirs().items():
        if what not in our_table:
            print(f"note: gguf-py has {what} {row}, the tables do not")
        elif our_table[what] != row and KNOWN_WRONG.get(what) != row:
            print(f"{what}: the tables say {our_table[what]}, gguf-py says {row}")
            contradiction_count += 1
    sys.exit(1 if contradiction_count else 0)


if __name__ == "__main__":
    main()
