#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_readme.py PROGRAM [PAGE...]: runs every command that the pages show and compares its output.

A command is an indented line that begins with `$ `; the indented lines after it, up to the next
command or the end of the block, are the result that it prints, or, if it fails, its messages too. A
line `...` stands for any lines. The commands of a page run in one new folder, one after the
other, as a user's would. Pages: README.md and those of docs/ that show commands.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDENT = "    "


def shown_commands(text):
    """(line number, command, lines of output) of each command of a page."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(INDENT + "$ "):
            found.append((number, line.removeprefix(INDENT + "$ "), []))
        elif found and found[-1] and line.startswith(INDENT):
            found[-1][2].append(line.removeprefix(INDENT))
        elif found and found[-1] and line == "":
            found[-1][2].append("")  # within a block, or its end
        else:
            found.append(None)  # what comes now is no output
    for entry in filter(None, found):
        while entry[2] and entry[2][-1] == "":
            entry[2].pop()
    return list(filter(None, found))


def matches(expected, actual):
    pattern = "\n".join(".*?" if line == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, "\n".join(actual), re.DOTALL) is not None


def check_page(page, program):
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}",
                   "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as folder:
        for number, command, expected in shown_commands(page.read_text(encoding="utf-8")):
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                    timeout=300, check=False)
            # Remarks of a command that succeeds are left out: they would only distract.
            printed = result.stdout + (result.stderr if result.returncode != 0 else "")
            actual = [line.rstrip() for line in printed.splitlines()]
            if result.returncode == 127 or not matches(expected, actual):
                yield (f"{page.relative_to(ROOT)}:{number}: $ {command}\nshown:\n"
                       + "\n".join(expected) + "\nprinted:\n" + "\n".join(actual))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]]
    pages = pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    findings = [finding for page in pages for finding in check_page(page, program)]
    commands = sum(len(shown_commands(page.read_text(encoding="utf-8"))) for page in pages)
    if commands == 0:
        findings.append("no page shows a command: has their layout changed?")
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
