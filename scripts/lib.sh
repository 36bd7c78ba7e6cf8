# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: strict mode, the root of the tree as working folder, the packages.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What Debian 12 calls the things that the project needs to be built and tested ...
packages_to_build=(cmake ninja-build g++ pkg-config python3
  libexpected-dev libhwy-dev libfmt-dev libcli11-dev libgtest-dev libgmock-dev libssl-dev
  libxxhash-dev nlohmann-json3-dev zlib1g-dev python3-numpy)
# ... and to be checked by everything we have.
packages_to_check=(git clang libclang-rt-14-dev clang-format clang-tidy libbenchmark-dev
  doxygen chromium chromium-driver mandoc zsh fish)

heading() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# need_packages PACKAGE...: installs what is missing if this user may, else says how.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system; needed are what Debian calls: $*" >&2
    return 0
  fi
  local installed package missing=()
  # dpkg-query fails if one package is unknown to it, and still lists the others.
  installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    grep -qx "installed $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local become=()
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null ||
      die "packages are missing; please run: sudo apt-get install ${missing[*]}"
    become=(sudo -n)
  fi
  heading "installing ${missing[*]}"
  local log
  log=$(log_of apt install)
  if ! { "${become[@]}" apt-get update &&
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } </dev/null &>"$log"; then
    tail -n 20 "$log" >&2
    die "this did not work: apt-get install ${missing[*]}"
  fi
}

# build PRESET [CMAKE_BUILD_OPTION...]
build() {
  local preset=$1
  shift
  # A compiler cache makes the second compiler run of unchanged code free; nobody has to have one.
  if command -v ccache >/dev/null; then
    # It has to trust that precompiled headers change with their sources.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  cmake --preset "$preset" >"$(log_of configure "$preset")" 2>&1 || {
    cat "$(log_of configure "$preset")"
    return 1
  }
  cmake --build --preset "$preset" "$@"
}

log_of() {
  mkdir -p build/logs
  echo "build/logs/$1-$2.log"
}
