# SPDX-License-Identifier: MIT
# Whole models against the digests of the reference implementation: its input as a tensor for each
# type, without and with an importance matrix. How input and digests were made: golden.md there.
golden=${INGOT_SHARED:-$tests/../../../shared}/golden/golden.json
[[ -f $golden ]] || { echo "there is no $golden; set INGOT_SHARED"; exit 77; }
python '
import hashlib, json, struct, subprocess, sys
ingot, golden = sys.argv[1], json.load(open(sys.argv[2]))
columns = golden["n"]
needs_data = {"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs"}
given_ones = {"iq1_s", "iq2_xxs", "iq2_xs"}  # by the reference, where it would take none

def splitmix(seed, count):
    state, mask = seed, (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        yield (z ^ (z >> 31)) >> 40

def pack(numbers): return struct.pack("<%df" % len(numbers), *numbers)
source = pack([(u - 8388608) * 2.0 ** (i % 5 - 25) for i, u in enumerate(splitmix(42, columns))])
seeded = pack([1 + u * 2.0 ** -24 for u in splitmix(99, columns)])
ones = pack([1.0] * columns)
for data, digest in (source, "x_sha256"), (seeded, "imatrix_sha256"):
    assert hashlib.sha256(data).hexdigest() == golden["input"][digest], digest

def text(value): return struct.pack("<Q", len(value)) + value.encode()

def write_model(path, names, rows=2):
    header = b"GGUF" + struct.pack("<IQQ", 3, len(names), 1)
    header += text("general.architecture") + struct.pack("<I", 8) + text("test")
    for i, name in enumerate(names):
        header += text(name) + struct.pack("<IQQIQ", 2, columns, rows, 0, i * rows * len(source))
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + source * rows * len(names))

def write_matrix(path, names, values):
    with open(path, "wb") as file:
        file.write(struct.pack("<i", len(names)))
        for name in names:
            file.write(struct.pack("<i", len(name)) + name.encode())
            file.write(struct.pack("<ii", 1, columns) + values)

def tensor_of(kind): return "blk.0.%s.weight" % kind

def run(kinds, section, values):
    names = [tensor_of(kind) for kind in kinds]
    write_model("golden.gguf", names)
    options = ["-q", "--force", "--token-embedding-type", "F16"]
    for kind in kinds:
        options += ["--tensor-type", "^%s$=%s" % (tensor_of(kind).replace(".", "[.]"), kind)]
    if values is not None:
        write_matrix("golden.dat", names, values)
        options += ["--imatrix", "golden.dat"]
    subprocess.run([ingot, "quantize", "golden.gguf", "out.gguf", "Q8_0", *options], check=True)
    listing = subprocess.run([ingot, "tensors", "out.gguf", "--json"], check=True,
                             stdout=subprocess.PIPE).stdout
    content, found = open("out.gguf", "rb").read(), 0
    for tensor in json.loads(listing):
        kind = tensor["name"].split(".")[2]
        assert tensor["type"].lower() == kind.lower(), tensor
        wanted = golden["types"][kind][section]["sha256"]
        row_bytes = golden["types"][kind]["quantized_bytes"]
        for row in range(2):
            begin = tensor["file_offset"] + row * row_bytes
            data = content[begin:begin + row_bytes]
            assert hashlib.sha256(data).hexdigest() == wanted, (kind, section, row)
        found += 1
    assert found == len(kinds) and found > 0

kinds = [kind for kind in golden["types"] if kind not in ("q8_1", "q8_K")]
run([kind for kind in kinds if kind not in needs_data], "quantize", None)
run(sorted(given_ones), "quantize", ones)
run([kind for kind in kinds if "quantize_with_imatrix" in golden["types"][kind]],
    "quantize_with_imatrix", seeded)
' "$ingot" "$golden"
