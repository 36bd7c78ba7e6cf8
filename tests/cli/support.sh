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
