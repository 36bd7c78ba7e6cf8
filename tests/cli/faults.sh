# SPDX-License-Identifier: MIT
# What goes wrong around a file: an error each time, never a crash, never a hang, nothing left behind.
"$ingot" sample model.gguf -q

# --- a file that becomes shorter while it is read ---------------------------------------------------
# The pipe takes less than the tensor, so the program is in the middle of it when the file is cut.
shorten() {
  head -c 100 >/dev/null
  truncate -s 4096 cut.gguf
  cat >/dev/null
}
"$ingot" sample big.gguf --vocab 20000 --embedding 256 --type F16 -q
for access in mmap read; do
  cp big.gguf cut.gguf
  set +e
  "$ingot" extract cut.gguf token_embd.weight -o - --as f32 -j 1 --io "$access" 2>message | shorten
  status=${PIPESTATUS[0]}
  set -e
  if [[ $access == mmap ]]; then
    ((status == 4)) || fail "status $status"
    grep -q '^ingot: .*has become shorter' message || fail "it says: $(cat message)"
  else
    ((status == 3)) || fail "status $status"
    grep -q '^ingot: cut.gguf: .*cut off' message || fail "it says: $(cat message)"
  fi
  [[ $(wc -l <message) == 1 ]] || fail "not one line: $(cat message)"
done
rm big.gguf cut.gguf

# --- what is no file --------------------------------------------------------------------------------
mkfifo fifo
for place in fifo /dev/null /dev/zero; do
  expect_error 3 'not a regular file' timeout 10 "$ingot" show "$place"
done
for place in fifo /dev/zero; do
  expect 3 timeout 10 "$ingot" check "$place" >/dev/null
done
expect_error 3 '' timeout 10 "$ingot" show - </dev/zero
touch secret.gguf
chmod 000 secret.gguf
if [[ ! -r secret.gguf ]]; then
  expect_error 4 'Permission denied' "$ingot" show secret.gguf
else
  # The superuser may read everything: let somebody else try, where that user reaches the program.
  nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod a+rx . ..
  if "${nobody[@]}" "$ingot" --version >/dev/null 2>&1; then
    expect_error 4 'Permission denied' "${nobody[@]}" "$ingot" show "$PWD/secret.gguf"
    expect_error 4 'Permission denied' "${nobody[@]}" "$ingot" sample "$PWD/not_allowed.gguf"
  fi
fi
rm -f secret.gguf
ln -s loop.gguf loop.gguf
expect_error 4 'loop.gguf: ' "$ingot" show loop.gguf
expect_error 4 'File name too long' "$ingot" show "$(printf 'x%.0s' {1..300})"

# --- files of 100 GB that are mostly holes ----------------------------------------------------------
python '
import os, struct
def text(t): return struct.pack("<Q", len(t)) + t
size = 100 << 30
head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
head += text(b"general.architecture") + struct.pack("<I", 8) + text(b"eagle3")
head += text(b"t") + struct.pack("<IQQIQ", 2, size // 2, 2, 24, 0)
head += bytes(-len(head) % 32)
with open("sparse.gguf", "wb") as file:
    file.write(head)
    file.truncate(len(head) + size)
'
expect 0 timeout 10 "$ingot" check sparse.gguf >/dev/null
expect 0 timeout 10 "$ingot" show sparse.gguf >/dev/null
if [[ ${INGOT_INSTRUMENTED:-0} != 1 ]]; then
  # With little memory the system refuses a mapping of 100 GB, and plain reads do.
  (ulimit -v 200000; expect 0 timeout 10 "$ingot" check sparse.gguf >/dev/null)
  (ulimit -v 200000; expect 0 timeout 10 "$ingot" show sparse.gguf --io read >/dev/null)
  (ulimit -v 200000; expect 0 timeout 10 "$ingot" show sparse.gguf >/dev/null)
fi
rm sparse.gguf

# --- sizes that do not fit 32 bits ------------------------------------------------------------------
# A tensor of 5 GiB, and after it, beyond 4 GiB, 32 bytes; and one whose size is 32 in 32 bits.
python '
import struct
def text(t): return struct.pack("<Q", len(t)) + t
def tensor(name, size, offset): return text(name) + struct.pack("<IQIQ", 1, size, 24, offset)
big = 5 << 30
head = b"GGUF" + struct.pack("<IQQ", 3, 2, 1)
head += text(b"general.architecture") + struct.pack("<I", 8) + text(b"eagle3")
head += tensor(b"big", big, 0) + tensor(b"small", 32, big)
head += bytes(-len(head) % 32)
with open("large.gguf", "wb") as file:
    file.write(head)
    file.seek(big - 4, 1)
    file.write(b"last" + bytes(range(32)))
head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + tensor(b"wraps", (1 << 32) + 32, 0)
with open("wraps.gguf", "wb") as file:
    file.write(head + bytes(-len(head) % 32 + 32))
'
for access in mmap read; do
  "$ingot" extract large.gguf small -o - -q --io "$access" |
    cmp - <(python 'import sys; sys.stdout.buffer.write(bytes(range(32)))') || fail "small, $access"
  expect_error 3 'cut off at 96 B of 4.00 GiB' "$ingot" show wraps.gguf --io "$access"
done
[[ $("$ingot" tensors large.gguf --json | python '
import json, sys
print(*(tensor["bytes"] for tensor in json.load(sys.stdin)))') == '5368709120 32' ]] || fail "sizes"
expect 0 "$ingot" check large.gguf >/dev/null
rm large.gguf wraps.gguf

# --- a disk that is full, as far as one file can see ------------------------------------------------
for limit in 1 100; do
  (ulimit -f "$limit"; expect 4 "$ingot" sample full.gguf --vocab 20000 -q 2>message)
  grep -q '^ingot: ' message || fail "it says: $(cat message)"
  [[ ! -e full.gguf ]] || fail "a file that is not complete"
done

# --- a kill at any time -----------------------------------------------------------------------------
for delay in 0.001 0.003 0.01 0.02 0.05; do
  "$ingot" sample killed.gguf --params 100M --force -q &
  pid=$!
  sleep "$delay"
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  [[ ! -e killed.gguf ]] || expect 0 "$ingot" check killed.gguf >/dev/null
  rm -f killed.gguf
done
[[ -z $(find . -name '*killed*') ]] || fail "left behind: $(find . -name '*killed*')"

# --- another locale, another clock ------------------------------------------------------------------
"$ingot" show model.gguf --json >expected
"$ingot" check --data --json model.gguf >expected_check
# Locales that the system does not have are made here, where it has what they are made of.
export LOCPATH=$PWD/locales
mkdir locales
for language in de_DE tr_TR; do
  localedef -i "$language" -f UTF-8 "locales/$language.UTF-8" 2>/dev/null || true
done
for locale in de_DE.UTF-8 tr_TR.UTF-8 C.UTF-8 nonsense; do
  LC_ALL=$locale "$ingot" show model.gguf --json >found
  expect_same expected found
  LC_ALL=$locale "$ingot" check --data --json model.gguf >found
  expect_same expected_check found
done
TZ=Pacific/Kiritimati "$ingot" sample other.gguf -q
expect_same model.gguf other.gguf

# --- reads that come short or fail ------------------------------------------------------------------
shim=${INGOT_FAULT_SHIM:-}
[[ -n $shim && ${INGOT_INSTRUMENTED:-0} != 1 ]] || exit 0
faulty() { INGOT_FAULT=$1 LD_PRELOAD=$shim "${@:2}"; }
for fault in short interrupt; do
  faulty "$fault" "$ingot" show model.gguf --json --io read >found
  expect_same expected found
  faulty "$fault" "$ingot" check --data --json model.gguf >found
  expect_same expected_check found
done
faulty clock "$ingot" sample other.gguf --force -q
expect_same model.gguf other.gguf
faulty clock "$ingot" check --data --json --progress always model.gguf >found 2>/dev/null
expect_same expected_check found
for call in 1 2 3 5 9; do
  faulty "fail:$call" "$ingot" check --data -j 1 model.gguf >/dev/null 2>message && fail "no failure"
  grep -q 'Input/output error' message || fail "it says: $(cat message)"
done
expect 3 faulty end:1 "$ingot" check model.gguf >/dev/null
