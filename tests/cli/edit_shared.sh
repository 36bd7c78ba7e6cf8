# SPDX-License-Identifier: MIT
# On a file system that shares blocks a new file takes no room for the data.
make=
for tool in mkfs.xfs mkfs.btrfs; do
  if command -v "$tool" >/dev/null; then make=$tool; break; fi
done
if ((EUID != 0)) || [[ -z $make ]]; then
  echo "no right or no tool to make a file system that shares blocks"
  exit 77
fi
truncate -s 400M image
mkdir disk
if ! "$make" -q image >/dev/null 2>&1 || ! mount -o loop image disk 2>/dev/null; then
  echo "a file system that shares blocks cannot be mounted here"
  exit 77
fi
trap 'umount disk' EXIT
"$ingot" sample disk/model.gguf --params 20M -q
sync -f disk
used() { df -k --output=used disk | tail -n 1; }
before=$(used)
"$ingot" edit disk/model.gguf -o disk/new.gguf --set general.name=new --json >report.json
grep -q '"way": "shared_copy"' report.json || fail "$(cat report.json)"
sync -f disk
(($(used) - before < 2000)) || fail "$(($(used) - before)) KiB more are in use"
for file in model new; do
  "$ingot" extract "disk/$file.gguf" output.weight -o - | sha256sum >"$file.digest"
done
expect_same model.digest new.digest
"$ingot" edit disk/new.gguf -o disk/plain.gguf -q --reserve 0 \
  --set general.name="$("$ingot" metadata disk/model.gguf --raw general.name)"
expect_same disk/plain.gguf disk/model.gguf
