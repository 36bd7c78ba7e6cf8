# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests of the program share.

fail() {
  printf 'line %s: %s\n' "${BASH_LINENO[*]:1}" "$*" >&2
  exit 1
}

# expect STATUS COMMAND...: runs the command, which must end with the status.
expect() {
  local wanted=$1 status=0
  shift
  "$@" || status=$?
  ((status == wanted)) || fail "status $status instead of $wanted: $*"
}

# expect_error STATUS TEXT COMMAND...: the command must print nothing on stdout, end with the
# status and say one line that begins with "ingot: " and holds the text.
expect_error() {
  local wanted=$1 text=$2 status=0 message
  shift 2
  message=$("$@" 2>&1 >unwanted_output) || status=$?
  ((status == wanted)) || fail "status $status instead of $wanted: $*: $message"
  [[ ! -s unwanted_output ]] || fail "unexpected output: $*"
  rm unwanted_output
  [[ $(wc -l <<<"$message") == 1 ]] || fail "more than one line: $message"
  [[ $message == "ingot: "*"$text"* ]] || fail "\"$message\" does not say \"$text\""
}

expect_same() {
  cmp -s -- "$1" "$2" || { diff -u -- "$1" "$2" | head -n 20 >&2; fail "$1 and $2 differ"; }
}

# python CODE [ARGUMENT...]
python() { python3 -c "$@"; }

# patch_file FILE FROM TO: replaces the one place of a byte string by another one of its length.
# Both are written as Python bytes literals without the b.
patch_file() {
  python '
import ast, sys
path, old, new = sys.argv[1], *(ast.literal_eval("b\"" + text + "\"") for text in sys.argv[2:])
data = open(path, "rb").read()
assert len(old) == len(new) and data.count(old) == 1, (len(old), len(new), data.count(old))
open(path, "wb").write(data.replace(old, new))
' "$@"
}

# For `kill_at_random.py --check`; the folder of the test is $original there.
hidden_only_if_killed='
hidden=$(find . -name ".*.tmp")
[[ -z $hidden || $outcome == killed ]]
'

# check_of_replaced_set OLD NEW: the same for three shards out-0000I-of-00003.gguf that were those of
# OLD, and are to be those of NEW: they are all old or all new.
check_of_replaced_set() {
  printf 'before=%q after=%q\n' "$1" "$2"
  cat <<'END'
olds=0 news=0 kept=0
for i in 1 2 3; do
  name=out-0000$i-of-00003.gguf
  old=$original/$before-0000$i-of-00003.gguf
  if cmp -s $name "$old"; then olds=$((olds + 1)); fi
  if cmp -s $name "$original/$after-0000$i-of-00003.gguf"; then news=$((news + 1)); fi
  if cmp -s $name "$old" || cmp -s .$name.ingot-old "$old"; then kept=$((kept + 1)); fi
done
# Never old and new ones beside each other; nothing old is lost before all is new.
((olds == 0 || news == 0))
((news == 3 || kept == 3))
case $outcome in
  0) ((news == 3)) && ! compgen -G ".*.ingot-old" ;;
  killed) ;;
  *) ((olds == 3)) ;;
esac
END
}
