#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_readme.py PROGRAM [PAGE...]: runs every command that the pages show and compares its output.

A command is an indented line that begins with `$ `; the indented lines after it, up to the next
command or the end of the block, are the result that it prints, or, if it fails, its messages too. A
line `...` stands for any lines. The commands of a page run in one new folder, one after the
other, as a user's would.

An indented line that begins with `ingot ` is a command, too, whose result is not shown: it must end
with 0, or 1 where the answer is no. The script tests/docs/PAGE.sh, if there is one, makes the files
for it. Lines with words like IN and OUT show the form of a command and are not run.

And every `ingot COMMAND --option` in the text names a command and options that there are. Pages:
README.md and those of docs/.
"""
import itertools
import os
import pathlib
import re
import shutil
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


FORM = re.compile(r"\b(IN|OUT|FILE|MODEL|PREFIX)\b")


def plain_commands(text):
    """(line number, command) of each command that is shown without a result."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith(INDENT + "ingot ") or FORM.search(line):
            continue
        command, last = line.strip(), number
        while command.endswith("\\"):
            command, last = command[:-1] + lines[last].strip(), last + 1
        yield number, command


def without_missing_filters(command):
    """The command up to the first filter that this system lacks, such as jq."""
    first, *filters = command.split(" | ")
    present = itertools.takewhile(lambda line: shutil.which(line.split()[0]), filters)
    return " | ".join([first, *present])


def check_plain(page, program):
    """What fails of the commands without a result."""
    commands = [(number, without_missing_filters(command))
                for number, command in plain_commands(page.read_text(encoding="utf-8"))]
    setting = ROOT / "tests" / "docs" / f"{page.stem}.sh"
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    if setting.exists() and commands:
        commands.insert(0, (0, f"set -euo pipefail; source {setting}"))
    with tempfile.TemporaryDirectory() as folder:
        for number, command in commands:
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                                    stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                    timeout=300, check=False)
            if result.returncode not in (0, 1):
                yield f"{page.relative_to(ROOT)}:{number}: {command}\n{result.stderr.strip()}"


def named_commands(text):
    """(line number, COMMAND, options) of each mention in a line of text."""
    for number, line in enumerate(text.splitlines(), 1):
        for span in re.findall(r"`(ingot [a-z].*?)`", line):
            for command in re.split(r"\\?\||&&|;", span):
                words = command.split()
                if len(words) > 1 and words[0] == "ingot" and words[1].isalpha():
                    options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
                    yield number, words[1], options


def check_names(page, program, helps):
    option_name = r"(?<![\w-])--?[a-z][a-z0-9-]*"
    overview = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    common = set(re.findall(option_name, overview.stdout))
    for number, command, options in named_commands(page.read_text(encoding="utf-8")):
        if command not in helps:
            result = subprocess.run([program, "help", command], capture_output=True, text=True,
                                    check=False)
            names = set(re.findall(option_name, result.stdout))
            helps[command] = names | common if names else names
        if not helps[command]:
            yield f"{page.relative_to(ROOT)}:{number}: there is no command {command}"
            continue
        for option in set(options) - helps[command]:
            yield f"{page.relative_to(ROOT)}:{number}: ingot {command} has no {option}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]]
    pages = pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    findings = [finding for page in pages for finding in check_page(page, program)]
    helps = {}
    for page in pages:
        findings += check_plain(page, program)
        findings += check_names(page, program, helps)
    commands = sum(len(shown_commands(page.read_text(encoding="utf-8"))) for page in pages)
    if commands == 0:
        findings.append("no page shows a command: has their layout changed?")
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
