#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_names.py PROGRAM: names of architectures in other tables are names of the house.

Import, export and evaluate have tests of their own that see their tables.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# File -> what stands around a name.
TABLES = {"src/architectures/abilities.def": r'INGOT_ABILITIES\("([^"]+)"'}


def main():
    rows = json.loads(subprocess.run([sys.argv[1], "architectures", "--json"], check=True,
                                     capture_output=True).stdout)
    known = {row["name"] for row in rows}
    wrong = 0
    for file, pattern in TABLES.items():
        names = re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"))
        for name in sorted(set(names) - known):
            print(f"{file}: {name} is no name of src/architectures/rows")
        wrong += len(set(names) - known) or not names
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
