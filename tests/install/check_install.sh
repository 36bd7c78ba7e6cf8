#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_install.sh BUILD_FOLDER GENERATOR CC CXX: installs the build and uninstalls it; installs it
# again, moves the installed tree elsewhere, and builds and runs programs against it, the examples
# too: by find_package and pkg-config, in C++, in C, and in a project without C++.
set -euo pipefail

build=$1 generator=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
stage=$(mktemp -d)
# What the user installed from this build before can still be uninstalled afterwards.
manifest=$build/install_manifest.txt
clean_up() {
  rm -f "$manifest"
  if [[ -e $stage/manifest ]]; then mv "$stage/manifest" "$manifest"; fi
  rm -rf -- "$stage"
}
if [[ -e $manifest ]]; then cp "$manifest" "$stage/manifest"; fi
trap clean_up EXIT
set -x

cmake --install "$build" --prefix "$stage/gone" >/dev/null
mkdir -p "$stage/gone/include/other"
touch "$stage/gone/include/other/file.h"
cmake --build "$build" --target uninstall >/dev/null
[[ $(find "$stage/gone" ! -type d) == "$stage/gone/include/other/file.h" ]]
if find "$stage/gone" -name '*ingot*' | grep .; then exit 1; fi

cmake --install "$build" --prefix "$stage/first" >/dev/null
mv "$stage/first" "$stage/moved"
if [[ -e $stage/moved/bin/ingot ]]; then
  "$stage/moved/bin/ingot" --version
  for file in man/man1/ingot.1 man/man1/ingot-show.1 bash-completion/completions/ingot \
    zsh/vendor-completions/_ingot fish/vendor_completions.d/ingot.fish; do
    [[ -s $stage/moved/share/$file ]]
  done
fi
# A package that knows where it was built works only there.
if grep -rlI -e "$stage/first" -e "$build" "$stage/moved"; then exit 1; fi

cmake -S "$here" -B "$stage/consumer" -G "$generator" -D CMAKE_PREFIX_PATH="$stage/moved" \
  -D CMAKE_C_COMPILER="$cc" -D CMAKE_CXX_COMPILER="$cxx" >/dev/null
cmake --build "$stage/consumer" >/dev/null
"$stage/consumer/consumer_cxx"
"$stage/consumer/consumer_c"
"$stage/consumer/consumer_convert"
# The core needs no library that a program would have to link.
without=(-D CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON -D CMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON)
cmake -S "$here/c_only" -B "$stage/c_only" -G "$generator" -D CMAKE_PREFIX_PATH="$stage/moved" \
  -D CMAKE_C_COMPILER="$cc" "${without[@]}" >/dev/null
cmake --build "$stage/c_only" >/dev/null
"$stage/c_only/consumer"

# Components: one that is not there is named, and what a static one lacks.
mkdir "$stage/components"
cat >"$stage/components/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES C)
find_package(ingot COMPONENTS ${WANTED} OPTIONAL_COMPONENTS nothing)
if(ingot_FOUND AND NOT ingot_nothing_FOUND)
  message(STATUS "found")
else()
  message(STATUS "missing: ${ingot_NOT_FOUND_MESSAGE}")
endif()
END
find_components() {
  cmake --fresh -S "$stage/components" -B "$stage/components/build" -G "$generator" -D CMAKE_C_COMPILER="$cc" \
    -D CMAKE_PREFIX_PATH="$stage/moved" "$@" 2>/dev/null | grep -E '^-- (found|missing)'
}
[[ $(find_components -D "WANTED=ingot;text" "${without[@]}") == "-- found" ]]
[[ $(find_components -D "WANTED=ingot;convert;import") == "-- found" ]]
find_components -D "WANTED=ingot;other" | grep -F 'missing: component other is missing: there is no target'
if [[ -n $(find "$stage/moved" -name libingot_convert.a) ]]; then
  find_components -D "WANTED=ingot;convert" "${without[@]}" | grep -F 'links OpenSSL 3 and zlib'
fi

# The examples, as a project of their own.
if [[ -e $stage/moved/bin/ingot ]]; then
  "$stage/moved/bin/ingot" sample "$stage/sample.gguf" --type Q8_0 -q
  cmake -S "$here/../../examples" -B "$stage/examples" -G "$generator" \
    -D CMAKE_PREFIX_PATH="$stage/moved" -D INGOT_SAMPLE_MODEL="$stage/sample.gguf" \
    -D CMAKE_C_COMPILER="$cc" -D CMAKE_CXX_COMPILER="$cxx" >/dev/null
  cmake --build "$stage/examples" >/dev/null
  ctest --test-dir "$stage/examples" --output-on-failure >/dev/null
fi

pc=$(find "$stage/moved" -name ingot.pc)
export PKG_CONFIG_PATH=${pc%/*}
library_folder=$(pkg-config --variable=libdir ingot)
# A program that uses the static library from C has to bring the C++ runtime itself.
static=()
if [[ -e $library_folder/libingot.a ]]; then static=(--static); fi
read -ra flags < <(pkg-config "${static[@]}" --cflags --libs ingot)
export LD_LIBRARY_PATH=$library_folder
"$cxx" -std=c++20 "$here/consumer_cxx.cpp" -o "$stage/cxx" "${flags[@]}"
"$stage/cxx"
"$cc" -std=c11 "$here/consumer_c.c" -o "$stage/c" "${flags[@]}"
"$stage/c"
read -ra flags < <(pkg-config "${static[@]}" --cflags --libs ingot-convert)
"$cxx" -std=c++20 "$here/consumer_convert.cpp" -o "$stage/convert" "${flags[@]}"
"$stage/convert"
