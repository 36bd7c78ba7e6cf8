#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""complete_by_shell.py SHELL SCRIPT LINE...: types each LINE and a tab into an interactive shell that
has read SCRIPT (zsh finds it by its name, _ingot), and prints what became of the line. The shell's own line editor does the work, so
quotes, blanks and word breaks are those that people meet."""
import os
import pty
import select
import sys
import time

START, END = "<<", ">>"
# The command line as the editor has it, on a line of its own, when ^X is typed twice.
SETUP = {
    "bash": r"""PS1='> '; bind 'set bell-style none'; bind 'set show-all-if-ambiguous off'
show() { printf '\n%s%s%s\n' '<<' "$READLINE_LINE" '>>'; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-x\C-x": show'; source SCRIPT
""",
    "zsh": r"""PS1='> '; unsetopt beep list_beep auto_menu; fpath=(${${:-SCRIPT}:h} $fpath)
autoload -Uz compinit; compinit -u -D
show() { print -r -- ; print -r -- "<<$BUFFER>>"; BUFFER= }
zle -N show; bindkey '^X^X' show
""",
}
COMMAND = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


def read_until(file, mark, seconds=60.0):
    text, deadline = "", time.monotonic() + seconds
    while mark not in text:
        if not select.select([file], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise SystemExit(f"no {mark!r} within {seconds:.0f} s after: {text[-400:]!r}")
        text += os.read(file, 65536).decode(errors="replace")
    return text


def main():
    shell, script, *lines = sys.argv[1:]
    process, file = pty.fork()
    if process == 0:
        os.environ.update(TERM="dumb", PS1="> ", INPUTRC="/dev/null", HISTFILE="")
        os.execvp(COMMAND[shell][0], COMMAND[shell])
    for line in SETUP[shell].replace("SCRIPT", script).splitlines():
        os.write(file, (line + "\n").encode())
    os.write(file, b"echo rea''dy\n")
    read_until(file, "ready")
    for line in lines:
        os.write(file, line.encode() + b"\t\x18\x18")
        screen = read_until(file, END)
        print(screen[screen.rindex(START) + len(START):screen.rindex(END)])
    os.write(file, b"exit\n")


main()
