#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_other_words.py PROGRAM: what docs/coming-from.md says that other tools are typed like is either
typed so here, too, or answered with the name that it has here; and so is every row of its last table."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "coming-from.md"
MARK = "<!-- ingot --generate other-words -->"
# Names of libraries, and programs that are no tools for models.
NO_TOOL = re.compile(r"^(gguf_(?!hash)\w+$|gguf_get_val|ggml_|GGUF|reader\.|tensor\.|gguf\.|gguf\(|curl|diff|A|B|safetensors)")


def answer(program, *words):
    process = subprocess.run([program, *words], stdin=subprocess.DEVNULL, text=True,
                             capture_output=True, check=False)
    return process.returncode, process.stderr.strip()


def cells_of(text):
    """The left and the right cell of each row of a table."""
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        if len(cells) == 2 and "---" not in cells[0]:
            yield cells[0].strip(), cells[1].strip()


def check_table(program, text):
    """Each row of the program's own table is what it answers."""
    rows = [(left.strip("`").split(), right) for left, right in cells_of(text) if left.startswith("`")]
    for words, right in rows:
        arguments = words if len(words) == 1 else [words[0], "a", "b", words[1]]
        code, message = answer(program, *arguments)
        if code != 2 or right not in message:
            yield f"`ingot {' '.join(words)}` is answered by: {message}"
    if len(rows) < 60:
        yield f"the table has {len(rows)} rows"


def check_word(program, commands, word):
    """Whether one of the commands has the option, or names its own."""
    for command in commands:
        _, message = answer(program, command, "a", "b", word, "x", "--offline")
        if "there is no option" not in message or "here it is" in message:
            return True
    return False


def check_page(program, text):
    for left, right in cells_of(text):
        for span in re.findall(r"`([^`]+)`", left):
            words = span.split()
            commands = re.findall(r"`ingot ([a-z-]+)", right)
            if not span.startswith("-"):
                if NO_TOOL.match(words[0]):
                    continue
                code, message = answer(program, words[0])
                if code != 2 or "; use 'ingot" not in message:
                    yield f"`ingot {words[0]}` is answered by: {message}"
                commands += re.findall(r"'ingot ([a-z-]+)", message)
                tool_commands = re.findall(r"'ingot ([a-z-]+)", message)
                if len(words) > 1 and words[0] == "gguf-tools":
                    code, message = answer(program, words[1])
                    if "there is no command" in message and "; use 'ingot" not in message:
                        yield f"`ingot {words[1]}` is answered by: {message}"
            else:
                commands += tool_commands
            for option in (word for word in words if word.startswith("--")):
                if not check_word(program, commands, option):
                    yield f"{option} of `{span}` is no option of {commands}, and has no hint"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    page, table = PAGE.read_text(encoding="utf-8").split(MARK)
    # A word that is no command may be the name of a file, so the folder is empty.
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        problems = [*check_page(program, page), *check_table(program, table)]
        os.chdir("/")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
