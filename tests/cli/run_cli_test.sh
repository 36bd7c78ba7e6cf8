#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run_cli_test.sh PROGRAM TEST.sh [--update]: runs a test of the program in a new, empty folder.
#
# A test is a bash script that finds the program as $ingot and what support.sh defines. It passes
# if it ends with 0 and if its standard output equals TEST.stdout.exact, where there is such a
# file; --update writes that file instead of comparing. 77 skips.
set -euo pipefail
(($# >= 2)) || { echo "usage: $0 PROGRAM TEST.sh [--update]" >&2; exit 2; }

program=$(realpath -- "$1")
test=$(realpath -- "$2")
expected=${test%.sh}.stdout.exact
tests=$(dirname -- "$(realpath -- "$0")")

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir "$folder/work"
cd "$folder/work"

# The same output on every machine and in every terminal.
unset COLUMNS NO_COLOR COLORTERM LC_CTYPE LANG
export LC_ALL=C TERM=xterm
export ingot=$program tests
# What ends a process at a chosen call; see kill_at_random.py. Sanitizers want to be loaded first.
kill_library=$(dirname -- "$program")/../tests/libkill_at_call.so
[[ ${INGOT_INSTRUMENTED:-0} == 0 && -f $kill_library ]] || kill_library=
export kill_library
# The sanitizers' own exit status would be 1, which is a valid answer of the program.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:exitcode=86 UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:exitcode=86
export TSAN_OPTIONS=${TSAN_OPTIONS:-}:exitcode=86

status=0
bash -euo pipefail -c 'source "$1"; source "$2"' bash "$tests/support.sh" "$test" \
  >"$folder/stdout" </dev/null || status=$?
if ((status != 0)); then
  cat "$folder/stdout"
  ((status == 77)) || echo "$(basename "$test"): ended with status $status" >&2
  exit "$status"
fi
if [[ ${3:-} == --update ]]; then
  cp "$folder/stdout" "$expected"
elif [[ -f $expected ]]; then
  diff -u --label expected "$expected" --label actual "$folder/stdout"
else
  cat "$folder/stdout"
fi
