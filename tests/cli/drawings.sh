# SPDX-License-Identifier: MIT
# Bars and sparks are for terminals that can show them; pipes and JSON never have any.
"$ingot" sample model.gguf --layers 1 -q
full=$'\xe2\x96\x88' low=$'\xe2\x96\x81'  # U+2588, U+2581

# in_terminal LOCALE COLUMNS ARGUMENT...: runs the program on a terminal of its own.
in_terminal() {
  python '
import os, pty, sys
environment = {**os.environ, "LC_ALL": sys.argv[2], "COLUMNS": sys.argv[3], "NO_COLOR": "1"}
child, terminal = pty.fork()
if child == 0:
    os.execve(sys.argv[1], ["ingot", *sys.argv[4:]], environment)
text = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    text += piece
sys.stdout.buffer.write(text.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
' "$ingot" "$@"
}

in_terminal C.UTF-8 120 tensors model.gguf >bars
grep -q "$full$full$full$full$full$full\$" bars || fail "the largest tensor has no full bar: $(cat bars)"
in_terminal C.UTF-8 120 tensors model.gguf --stats >sparks
grep -q "blk.0.ffn_up.weight.*$low.*$full.*$low" sparks || fail "no sparks: $(cat sparks)"
in_terminal C.UTF-8 120 show model.gguf | grep -q "$full" || fail "show has no bars"
python 'import sys
sys.exit(any(len(line) > 121 for name in sys.argv[1:] for line in open(name, encoding="utf-8")))' \
  bars sparks || fail "too wide"

for arguments in "tensors model.gguf" "tensors model.gguf --stats"; do
  # shellcheck disable=SC2086
  {
    in_terminal C 120 $arguments
    in_terminal C.UTF-8 80 $arguments
    in_terminal C.UTF-8 120 $arguments --json
    LC_ALL=C.UTF-8 COLUMNS=120 "$ingot" $arguments
  } >plain
  if LC_ALL=C grep -q $'[\x80-\xff]' plain; then fail "drawings where none can be shown"; fi
done
