# SPDX-License-Identifier: MIT
# Repair holds a header once: it neither copies values and tables nor parses them again.
[[ ${INGOT_INSTRUMENTED:-0} == 0 ]] || exit 77
python '
import resource, struct, subprocess, sys

def text(value): return struct.pack("<Q", len(value)) + value

def header(tensor_count, *pairs):
    pairs = (text(b"general.architecture") + struct.pack("<I", 8) + text(b"eagle3"), *pairs)
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, len(pairs)) + b"".join(pairs)

def write(path, head, data_bytes):
    open(path, "wb").write(head + bytes(-len(head) % 32) + bytes(data_bytes) + b"tail")

# 6 million empty strings: 48 MB.
tokens = text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 6_000_000) + bytes(48_000_000)
write("strings.gguf", header(0, tokens), 0)
names = (text(b"t%06d" % i) + struct.pack("<IQIQ", 1, 8, 0, 32 * i) for i in range(200_000))
write("tensors.gguf", header(200_000) + b"".join(names), 32 * 200_000)
write("small.gguf", header(0), 0)

def peak_mib(path):
    code = ("import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n")
    command = [sys.argv[1], "repair", path, "-o", "out.gguf", "--force", "-q"]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, check=True)
    return int(done.stdout)

# The header itself, or the table of 200,000 tensors, beside the program.
program = peak_mib("small.gguf")
for path, most in (("strings.gguf", 64), ("tensors.gguf", 48)):
    peak = peak_mib(path) - program
    if peak > most: sys.exit(f"{path}: {peak} MiB beside the {program} of the program")
' "$ingot"
