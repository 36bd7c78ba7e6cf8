#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate_characters.py > src/chat/character_tables.def

Writes what templates need to know of Unicode, as Python's str knows it: letters, digits, what repr()
escapes, and cases.
"""
import sys
import unicodedata

HEADER = """\
// SPDX-License-Identifier: MIT
// Unicode {version} as Python's str has it; scripts/generate_characters.py writes this file.
//
// INGOT_CHARACTERS(first, class)           from here to the next row; class as in CharacterClass
// INGOT_CASE(kind, first, last, step, delta)  each step-th character from first to last maps to
//                                          itself + delta
// INGOT_LONG_CASE(kind, character, text)   maps to several characters

// clang-format off
"""


def class_of(c):
    if c.isdecimal():
        return "decimal"
    if c.isdigit():
        return "digit"
    if c.isalpha():
        return "letter"
    if c.isnumeric():
        return "numeric"
    return "other" if c.isprintable() else "hidden"


def characters():
    """Surrogates are no characters of UTF-8; their class is that of their neighbours."""
    return (chr(number) for number in range(sys.maxunicode + 1))


def print_packed(rows):
    line = ""
    for row in rows:
        if len(line) + len(row) > 99:
            print(line.rstrip())
            line = ""
        line += row + " "
    print(line.rstrip())


def class_rows():
    last = None
    for c in characters():
        if class_of(c) != last:
            last = class_of(c)
            yield f"INGOT_CHARACTERS({ord(c):#x}, {last})"


def case_rows(kind, change, base):
    """Runs of equal distance, of step 1 or 2. What `base` does already is left out."""
    changed = [(ord(c), ord(change(c)) - ord(c)) for c in characters()
               if len(change(c)) == 1 and change(c) != base(c)]
    runs = []
    for number, delta in changed:
        if runs:
            first, last, step, run_delta = runs[-1]
            gap = number - last
            if delta == run_delta and gap in (1, 2) and (first == last or gap == step):
                runs[-1] = (first, number, gap, delta)
                continue
        runs.append((number, number, 1, delta))
    for first, last, step, delta in runs:
        yield f"INGOT_CASE({kind}, {first:#x}, {last:#x}, {step}, {delta})"


def long_rows(kind, change, base):
    for c in characters():
        if len(change(c)) > 1 and change(c) != base(c):
            text = "".join(f"\\x{byte:02x}" for byte in change(c).encode())
            yield f'INGOT_LONG_CASE({kind}, {ord(c):#x}, "{text}")'


def same(c):
    return c


def main():
    print(HEADER.format(version=unicodedata.unidata_version), end="")
    print_packed(class_rows())
    kinds = (("upper", str.upper, same), ("lower", str.lower, same),
             ("title", str.title, str.upper), ("folded", str.casefold, str.lower))
    for kind, change, base in kinds:
        print_packed(case_rows(kind, change, base))
    for kind, change, base in kinds:
        print_packed(long_rows(kind, change, base))


if __name__ == "__main__":
    main()
