# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: strict mode, the root of the tree as working folder, the packages.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A python3 that is a script, as pyenv's, chooses a version at each call, for longer than most calls take.
python=$(command -v python3 || true)
if [[ -n $python && $(head -c 2 "$python") == '#!' ]]; then
  PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
fi

# What Debian 12 calls the things that the project needs to be built and tested ...
packages_to_build=(cmake ninja-build g++ pkg-config python3
  libexpected-dev libhwy-dev libfmt-dev libcli11-dev libgtest-dev libgmock-dev libssl-dev
  libxxhash-dev nlohmann-json3-dev zlib1g-dev libyaml-dev libcurl4-openssl-dev libsqlite3-dev python3-numpy
  pybind11-dev python3-dev python3-pytest python3-hypothesis python3-pip python3-venv python3-build mypy)
# ... and to be checked by everything we have.
packages_to_check=(ccache git clang libclang-rt-14-dev clang-format clang-tidy libbenchmark-dev
  doxygen chromium chromium-driver mandoc zsh fish)
# ... and to be built for Windows, and run there by wine.
packages_for_windows=(g++-mingw-w64-x86-64-posix libz-mingw-w64-dev cmake ninja-build python3
  libexpected-dev libhwy-dev libfmt-dev libcli11-dev libxxhash-dev nlohmann-json3-dev)
packages_to_try_windows=(wine wine64 clang-19 lld-19)
# ... and to be compiled for macOS.
packages_for_macos=(cmake ninja-build python3 file libcurl4-openssl-dev
  libexpected-dev libhwy-dev libfmt-dev libcli11-dev libxxhash-dev nlohmann-json3-dev)
# ... and to be tested with LLVM's standard library.
packages_for_libcxx=(clang-19 libc++-19-dev libc++abi-19-dev googletest)
# ... and to be compiled to WebAssembly.
packages_for_web=(clang-19 lld-19 libc++-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc binaryen
  cmake ninja-build libexpected-dev libhwy-dev libfmt-dev libcli11-dev libxxhash-dev nlohmann-json3-dev)
# The schedulers of examples/fleet.
packages_for_fleet=(parallel snakemake python3-distributed slurmctld slurmd slurm-client munge)

heading() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# name_missing PACKAGE...: ends the script if one is not installed, with the names of those that are not.
name_missing() {
  local package missing=()
  for package in "$@"; do
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  ((${#missing[@]} == 0)) || die "packages are missing; please run: sudo apt-get install ${missing[*]}"
}

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

# use_compiler_cache: if there is one, it makes the second compiler run of unchanged code free.
use_compiler_cache() {
  if command -v ccache >/dev/null; then
    # It has to trust that precompiled headers change with their sources.
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    # Units of several sources lie in the folder of a build: named from there, they are the same in all.
    export CCACHE_BASEDIR=$PWD
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
}

# configure NAME CMAKE_OPTION...
configure() {
  local name=$1
  shift
  use_compiler_cache
  cmake "$@" >"$(log_of configure "$name")" 2>&1 || {
    cat "$(log_of configure "$name")"
    return 1
  }
}

# build PRESET [CMAKE_BUILD_OPTION...]
build() {
  configure "$1" --preset "$1" && cmake --build --preset "$@"
}

# build_packages: the Debian packages, in build/package/packages.
build_packages() {
  build package
  rm -rf build/package/packages
  cpack --preset package >"$(log_of cpack package)"
}

log_of() {
  mkdir -p build/logs
  echo "build/logs/$1-$2.log"
}

# step NAME COMMAND...: a step of several, of which all run even if one fails; its output is shown and logged.
step_results=()
failed_steps=0
step() {
  local name=$1 start=$SECONDS result=passed status=0
  shift
  heading "$name: $*"
  # A function in a condition would go on after a failure, so the step is a process of its own.
  bash -euo pipefail -c 'source scripts/lib.sh; "$@"' step "$@" 2>&1 | tee "$(log_of step "$name")" || status=$?
  case $status in
    0) ;;
    77) result=skipped ;;  # the log says why
    *) result=FAILED failed_steps=$((failed_steps + 1)) ;;
  esac
  # With ctest's own total, if the step has one.
  step_results+=("$(printf '%-14s %-7s %5d s  %s' "$name" "$result" $((SECONDS - start)) \
    "$(grep -aE '^[0-9]+% tests passed' "$(log_of step "$name")" | tail -n 1)")")
}

# end_steps: says how each step ended, and ends the script.
end_steps() {
  heading "summary"
  printf '%s\n' "${step_results[@]}"
  if ((failed_steps)); then echo FAILED; else echo "all passed"; fi
  exit $((failed_steps > 0))
}

# skip REASON: what this script tries is not possible here.
skip() { printf '%s: skipped: %s\n' "${0##*/}" "$*"; exit 77; }

# debian_mirror: where this system takes Debian from; nothing if it is no Debian.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "Debian" { print $1; exit }'
}

# make_root SUITE FOLDER [PACKAGE...]: a Debian that has only what has to be there, and PACKAGEs; it
# goes when the script ends. Skips the script where that is not possible.
make_root() {
  local suite=$1 folder=$2 mirror
  shift 2
  [[ ! -e $folder ]] ||
    die "$folder exists; if it is of a run that was cut off: umount $folder/proc; rm -r $folder"
  ((EUID == 0)) || skip "it needs root"
  need_packages debootstrap
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || skip "apt knows no Debian mirror; please run: apt-get update"
  heading "a bare Debian ($suite) in $folder"
  mkdir -p build/debootstrap "${folder%/*}"
  made_roots+=("$folder")
  [[ -n $(trap -p EXIT) ]] || trap remove_roots EXIT
  local include=$*
  if ! debootstrap --variant=minbase --cache-dir="$PWD/build/debootstrap" \
    ${include:+--include="${include// /,}"} "$suite" "$folder" "$mirror" \
    >"$(log_of debootstrap "$suite")" 2>&1; then
    tail -n 3 "$(log_of debootstrap "$suite")"
    skip "debootstrap of $suite from $mirror failed"
  fi
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  mount -t proc proc "$folder/proc"
}

# remove_roots: what make_root made; never across a mount that would not go away.
made_roots=()
remove_roots() {
  local folder place
  for folder in "${made_roots[@]}"; do
    for place in dev/pts proc; do
      if mountpoint -q "$folder/$place"; then umount --lazy "$folder/$place"; fi
    done
    rm -rf --one-file-system -- "$folder"
  done
}

# in_root FOLDER COMMAND...: runs it there, with nothing of this system's environment.
in_root() {
  local folder=$1
  shift
  chroot "$folder" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@" </dev/null
}

# unpack_packages MACHINE FOLDER PACKAGE...: Debian's packages for another machine below FOLDER/root;
# the system is not changed.
unpack_packages() {
  local architecture=$1 folder=$2 apt=$2/apt package
  shift 2
  case $architecture in aarch64) architecture=arm64 ;; i686) architecture=i386 ;; esac
  [[ "$(cat "$folder/unpacked" 2>/dev/null)" != "$*" ]] || return 0
  rm -rf "$folder/root"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$folder/root"
  : >"$apt/status"
  local options=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"
    -o "Dir::State=$PWD/$apt" -o "Dir::State::status=$PWD/$apt/status"
    -o "Dir::Cache=$PWD/$apt/cache" -o APT::Sandbox::User=root)
  # A mirror may lack one of its lists for a while; the packages of the others are enough.
  apt-get "${options[@]}" update >/dev/null || echo "note: apt-get update failed for $architecture" >&2
  (cd "$apt" && apt-get "${options[@]}" download "$@" >/dev/null)
  for package in "$apt"/*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
  # Headers that differ between machines have a folder of their own; here they need none.
  for package in "$folder"/root/usr/include/*-linux-gnu; do
    cp -r "$package/." "$folder/root/usr/include/"
  done
  echo "$*" >"$folder/unpacked"
}

# cross_options MACHINE ROOT: what CMake has to know to compile for it, one option a line.
cross_options() {
  local machine=$1 root library=$1-linux-gnu emulator="qemu-$1;-L;/usr/$1-linux-gnu"
  root=$(realpath "$2")
  if [[ $machine == i686 ]]; then library=i386-linux-gnu emulator=; fi  # which x86-64 runs itself
  printf -- '-D%s\n' CMAKE_SYSTEM_NAME=Linux "CMAKE_SYSTEM_PROCESSOR=$machine" \
    "CMAKE_C_COMPILER=$machine-linux-gnu-gcc" "CMAKE_CXX_COMPILER=$machine-linux-gnu-g++" \
    "CMAKE_CXX_FLAGS=-isystem $root/usr/include" "CMAKE_C_FLAGS=-isystem $root/usr/include" \
    "CMAKE_FIND_ROOT_PATH=$root" CMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    CMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY CMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY \
    CMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "CMAKE_LIBRARY_ARCHITECTURE=$library" \
    "CMAKE_CROSSCOMPILING_EMULATOR=$emulator"
}
