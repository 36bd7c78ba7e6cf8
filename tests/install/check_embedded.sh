#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_embedded.sh GENERATOR CC CXX PROGRAM: a project in C takes Ingot by FetchContent, and gets the core
# alone: nothing is looked for that the core does not need, and its program reads a model.
set -euo pipefail

generator=$1 cc=$2 cxx=$3 program=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

cmake -S "$here/embedded" -B "$work/build" -G "$generator" -D INGOT_SOURCE="$(realpath "$here/../..")" \
  -D INGOT_STATIC_CPU_TARGET=ON -D CMAKE_C_COMPILER="$cc" -D CMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_DISABLE_FIND_PACKAGE_{OpenSSL,ZLIB,nlohmann_json,fmt,CLI11,Python3}=TRUE --no-warn-unused-cli >/dev/null
TIMEFORMAT='%U s of the user and %S s of the system to build the core and a reader'
time cmake --build "$work/build" >"$work/log" || { tail -n 20 "$work/log"; exit 1; }
# Sources of a subject are one unit: few steps, as compilers read headers for each.
steps=$(grep -cE '^\[[0-9]+/[0-9]+\]' "$work/log")
((steps < 60)) || { echo "$steps steps to build the core"; exit 1; }
if compgen -G "$work/build/_deps/ingot-build/src/libingot_*"; then echo "this is more than the core"; exit 1; fi
"$program" sample "$work/model.gguf" -q
[[ $("$work/build/reader" "$work/model.gguf" | head -n 1) == 'tensors: 21, alignment: 32' ]]
