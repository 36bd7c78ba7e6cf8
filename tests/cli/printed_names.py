#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""printed_names.py PROGRAM: no name or text of a file drives a terminal, whatever command and option
prints it; and no option reads a file without an end.

The model has control and bidirectional characters in its keys, strings, tokens, tensors and its own name.
Commands are those of commands.def, options and arguments those of `ingot help COMMAND`, and their values
what `ingot --complete` offers: a new one is tried without being listed here. Each option is run on a
terminal. Into a pipe, where only what RAW_IN_PIPES lists is the bytes of the file, each command is run."""
import concurrent.futures
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.realpath(sys.argv[1])
# What a terminal would obey. The program's own colours end in other letters than EVIL.
HOSTILE = [text.encode() for text in ("\x1b]0;p", "\a", "\x1b[31mE", "\u202e", "\u200b", "\u009b")]
NAME = "m\x1b]0;p\a\x1b[31mE\u202e\u200b\u009b.gguf"
# Options whose value is a text that can be printed again, and those that end no run by themselves.
RAW_IN_PIPES = {"chat", "chat-template", "detokenize"}
# What is read as it comes, however long it is.
STREAMS = {("tokenize", "--file")}
# What answers until it is ended. What it has to say comes before it waits for long.
SERVERS = {"view"}
VALUES = {"N": "1", "SIZE": "1G", "FILE": NAME, "PATH": NAME, "KEY": "general.name", "DIR": ".",
          "K=V": "a=1", "TEXT": "a", "OUT": "out", "PREFIX": "out", "TENSOR": "output.weight", "LENGTHS": "64"}
SECONDS = 60
SECONDS_OF_SERVERS = 2


def make_model(folder):
    """A sample in which texts of a length are replaced by hostile ones of that length."""
    path = folder / NAME
    subprocess.run([PROGRAM, "sample", path, "-q", "--layers", "1", "--embedding", "64", "--feed-forward",
                    "64", "--vocab", "300"], check=True, env=ENVIRONMENT)
    data = path.read_bytes()
    for old in (b"blk.0.attn_output.weight", b"general.size_label", b"Ingot sample llama"):
        assert old in data, old
        data = data.replace(old, (b"".join(HOSTILE) + old)[:len(old)])
    path.write_bytes(data)
    return path


def help_of(command):
    return subprocess.run([PROGRAM, "help", command], check=True, capture_output=True, text=True,
                          env=ENVIRONMENT).stdout


def words_for(command, option):
    """The words that complete an option's value."""
    done = subprocess.run([PROGRAM, "--complete", "words", command, option, ""], capture_output=True,
                          text=True, check=True, env=ENVIRONMENT)
    return [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]


def runs_of(command):
    """Lists of arguments: the command alone, and with each of its options and their values."""
    text = help_of(command)
    usage = " ".join(re.search(r"Usage: (.*?)\n\n", text, re.S)[1].split())
    arguments = [VALUES.get(name, NAME) for name in re.findall(r"\[?([A-Z][A-Z_-]+)(?:\.\.\.)?\]?",
                                                                 usage.replace("[OPTIONS]", ""))]
    options = [[]]
    for name, value in re.findall(r"^ {2,6}(?:-\w, )?(--[a-z][a-z0-9-]*)(?: ('?[A-Z][^ ]*))?", text, re.M):
        if not value:
            options.append([name])
            continue
        words = words_for(command, name)[:12] or [VALUES.get(value, NAME)]
        options += [[name, word] for word in words]
        if value in ("FILE", "PATH") and (command, name) not in STREAMS:
            options.append([name, "/dev/zero"])
    return [[command, *arguments, *option] for option in options]


def printed(arguments, on_terminal):
    """What a run prints, in a folder of its own."""
    is_server = arguments[0] in SERVERS
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(MODEL, folder)
        main, side = pty.openpty() if on_terminal else os.pipe()
        with subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=side, stderr=side,
                              cwd=folder, env=ENVIRONMENT) as child:
            os.close(side)
            text = b""
            try:
                while select.select([main], [], [], SECONDS_OF_SERVERS if is_server else SECONDS)[0]:
                    piece = os.read(main, 1 << 16)
                    if not piece:
                        break
                    text += piece
                else:
                    child.kill()
                    if not is_server:
                        text += HOSTILE[0] + b" (it did not end)"
            except OSError:  # the other end of a terminal is closed
                pass
            os.close(main)
        return text


def problem_of(arguments, on_terminal):
    text = printed(arguments, on_terminal)
    found = [mark for mark in HOSTILE if mark in text]
    if not found or (not on_terminal and arguments[0] in RAW_IN_PIPES):
        return None
    place = text.index(found[0])
    return f"{'terminal' if on_terminal else 'pipe'}: {arguments}: {text[max(0, place - 80):place + 80]}"


with tempfile.TemporaryDirectory() as home:
    # No other program is found, a browser neither.
    ENVIRONMENT = {**os.environ, "PATH": home, "HOME": home, "XDG_CACHE_HOME": home, "LC_ALL": "C.UTF-8", "TERM": "xterm",
                   "COLUMNS": "120", "http_proxy": "http://127.0.0.1:1"}
    MODEL = make_model(pathlib.Path(home))
    table = (ROOT / "tools/ingot/commands.def").read_text()
    commands = [name.replace("_", "-") for name in re.findall(r"^INGOT_COMMAND\((\w+)\)", table, re.M)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [(run, True) for runs in pool.map(runs_of, commands) for run in runs]
        runs += [([*run, *json], False) for run, _ in runs if len(run) < 3 for json in ([], ["--json"])]
        runs.append((["--complete", "words", "metadata", NAME, ""], True))
        problems = [problem for problem in pool.map(lambda run: problem_of(*run), runs) if problem]
print("\n".join(problems))
print(f"{len(commands)} commands, {len(runs)} runs, {len(problems)} problems")
# The hash of each tensor is one of them.
assert any("gguf-hash" in run for run, _ in runs)
sys.exit(1 if problems else 0)
