#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_shards.py PREFIX: writes a model in three files, PREFIX-00001-of-00003.gguf and on.

Small and plain, so that a reader of the tests sees every byte that matters.
"""
import struct
import sys

COUNT = 3
UINT16, UINT32, INT32, STRING = 2, 4, 5, 8
PACKED = {UINT16: "<H", UINT32: "<I", INT32: "<i"}


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def pair(key, value_type, value):
    packed = string(value) if value_type == STRING else struct.pack(PACKED[value_type], value)
    return string(key) + struct.pack("<I", value_type) + packed


def shard(index):
    pairs = [pair("split.no", UINT16, index), pair("split.count", UINT16, COUNT),
             pair("split.tensors.count", INT32, COUNT)]
    if index == 0:
        pairs[:0] = [pair("general.architecture", STRING, "llama"),
                     pair("general.name", STRING, "Three Shards"),
                     pair("llama.block_count", UINT32, COUNT)]
    # One tensor: 8 x 4 float32, all zero.
    tensor = string(f"blk.{index}.ffn_up.weight") + struct.pack("<IQQIQ", 2, 8, 4, 0, 0)
    header = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor
    return header + bytes(-len(header) % 32) + bytes(8 * 4 * 4)


for number in range(COUNT):
    with open(f"{sys.argv[1]}-{number + 1:05}-of-{COUNT:05}.gguf", "wb") as out:
        out.write(shard(number))
