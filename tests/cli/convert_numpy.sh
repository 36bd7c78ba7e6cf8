# SPDX-License-Identifier: MIT
# NumPy reads our archives and arrays.
python='' # Debian's own, which has python3-numpy
for candidate in /usr/bin/python3 python3; do
  "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[[ -n $python ]] || { echo "there is no NumPy; install python3-numpy"; exit 77; }

for type in Q8_0 F16 BF16 I32 F64; do
  rm -f model.gguf
  "$ingot" sample model.gguf --type "$type" -q 2>/dev/null || continue
  "$ingot" convert model.gguf model.npz --force
  "$ingot" tensors model.gguf --json >tensors.json
  "$python" - <<'PYTHON'
import json, os, subprocess, zipfile, numpy
archive = numpy.load("model.npz")
assert zipfile.ZipFile("model.npz").testzip() is None  # checksums
tensors = json.load(open("tensors.json"))
assert archive.files == [tensor["name"] for tensor in tensors]
for tensor in tensors:
    array = archive[tensor["name"]]
    assert array.shape == tuple(tensor["shape"][::-1]), tensor
    kept = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I32": "<i4"}
    assert array.dtype == numpy.dtype(kept.get(tensor["type"], "<f4")), tensor
    subprocess.run([os.environ["ingot"], "extract", "model.gguf", tensor["name"], "-o", "one.npy",
                    "--force"], check=True)
    assert numpy.array_equal(numpy.load("one.npy"), array, equal_nan=True)
PYTHON
done
"$ingot" sample again.gguf --type F64 -q
"$ingot" convert again.gguf a.npz
"$ingot" convert again.gguf b.npz
expect_same a.npz b.npz

"$ingot" convert again.gguf half.npz --type F16
"$python" -c 'import numpy
archive = numpy.load("half.npz")
assert {archive[name].dtype for name in archive.files} == {numpy.dtype("<f2")}'
