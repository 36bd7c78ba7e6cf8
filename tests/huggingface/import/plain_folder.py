# SPDX-License-Identifier: MIT
"""What checks of the import need to make folders and to compare results, of the standard library alone."""
import json
import struct
import subprocess


def single(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def e4m3(code):
    sign, exponent, fraction = -1 if code & 128 else 1, code >> 3 & 15, code & 7
    return sign * (fraction / 8 * 2**-6 if exponent == 0 else (1 + fraction / 8) * 2.0**(exponent - 7))


def encoded(numbers, kind):
    """Numbers as F32, F16 or BF16, cut."""
    if kind == "BF16":
        return b"".join(struct.pack("<f", number)[2:] for number in numbers)
    return struct.pack(f"<{len(numbers)}{'f' if kind == 'F32' else 'e'}", *numbers)


def write_weights(path, tensors):
    """A safetensors file of name -> (type, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, stored) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def difference(actual, expected, what):
    for left, right in zip(actual, expected):
        if left != right:
            return f"{what}: {str(left)[:300]}, expected {str(right)[:300]}"
    return None if len(actual) == len(expected) else f"{len(actual)} {what}s, expected {len(expected)}"


def padded(tensors):
    """Tensors with data to the alignment of a file."""
    return [(name, kind, dims, data + bytes(-len(data) % 32)) for name, kind, dims, data in tensors]


def convert(program, folder, out, *options):
    return subprocess.run([program, "convert", str(folder), str(out), "--force", "-q", *options], capture_output=True,
                          text=True, check=False)
