#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""draw_terminal.py PROGRAM: draws docs/terminal.svg, the picture of a terminal that the README shows.

It is what the program prints, in its colours, about a model of `ingot sample`, so every machine draws the same.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = ["sample", "llama-350M-Q4_K.gguf", "--params", "350M", "--type", "Q4_K", "--ctx-size", "131072", "-q"]
COMMANDS = ["ingot show llama-350M-Q4_K.gguf", "ingot fit llama-350M-Q4_K.gguf -d 4G -c 128k"]
# Lines that say little to who sees them for the first time.
LEFT_OUT = re.compile(r"^ *(not counted|--split-mode|data from|GGUF version|bos |system, )")

COLUMNS, CELL_WIDTH, LINE_HEIGHT, MARGIN = 82, 8.4, 18, 18
BACKGROUND, TEXT = "#16181d", "#d6dae0"
STYLES = {"1": 'font-weight="bold" fill="#ffffff"', "2": 'fill="#8b949e"', "31": 'fill="#ff7b72"',
          "32": 'fill="#7ee787"', "33": 'fill="#f2cc60"', "34": 'fill="#79c0ff"', "35": 'fill="#d2a8ff"',
          "36": 'fill="#56d4dd"', "94": 'fill="#79c0ff"'}


def output_of(program, command, folder):
    """The lines that a terminal would show."""
    words = [program, *command.split()[1:], "--color", "always"]
    environment = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    lines = [line for line in done.stdout.splitlines() if not LEFT_OUT.match(without_colours(line))]
    while lines and not without_colours(lines[-1]):
        lines.pop()
    return lines


def without_colours(line):
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def runs_of(line):
    """(column, text, style) of each piece of a line that has one style and no wide gap."""
    style, column = "", 0
    for code, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if not text:
            style = STYLES.get(code, "")
            continue
        for piece in re.finditer(r"\S+(?: \S+)*", text):
            yield column + piece.start(), piece[0], style
        column += len(text)


def draw(lines):
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    yield "<!-- SPDX-License-Identifier: MIT -->"
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" role="img" aria-label="ingot show and ingot fit in a terminal">')
    yield f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>'
    yield (f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
           f'font-size="14" fill="{TEXT}" xml:space="preserve">')
    for row, line in enumerate(lines):
        y = MARGIN + (row + 0.75) * LINE_HEIGHT
        for column, text, style in runs_of(line):
            # The length keeps columns in line whatever font there is.
            yield (f'<text x="{MARGIN + column * CELL_WIDTH:.1f}" y="{y:.1f}" '
                   f'textLength="{len(text) * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"'
                   f'{" " + style if style else ""}>{escape(text)}</text>')
    yield "</g></svg>\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, *SAMPLE], cwd=folder, check=True)
        for command in COMMANDS:
            lines += [""] * bool(lines) + [f"\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m"]
            lines += output_of(program, command, folder)
    (ROOT / "docs" / "terminal.svg").write_text("\n".join(draw(lines)), encoding="ascii",
                                                   errors="xmlcharrefreplace")


if __name__ == "__main__":
    main()
