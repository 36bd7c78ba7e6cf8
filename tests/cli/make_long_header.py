#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_long_header.py FILE: a GGUF file whose vocabulary is longer than the first range that is fetched, with
two tensors behind it."""
import struct
import sys


def text(value):
    return struct.pack("<Q", len(value)) + value


tokens = [b"%012d" % i for i in range(150_000)]
header = bytearray(b"GGUF" + struct.pack("<IQQ", 3, 2, 2))
header += text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
header += text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, len(tokens))
header += b"".join(map(text, tokens))
elements = 1 << 19
header += text(b"first.weight") + struct.pack("<IQIQ", 1, elements, 0, 0)
header += text(b"last.weight") + struct.pack("<IQIQ", 1, elements, 0, 4 * elements)
header += bytes(-len(header) % 32)
data = b"".join(struct.pack("<f", i % 1000) for i in range(1000)) * (2 * elements // 1000 + 1)
with open(sys.argv[1], "wb") as file:
    file.write(header + data[:8 * elements])
