# SPDX-License-Identifier: MIT
"""add_unread_tensor.py FILE DTYPE: adds 16 MiB to a safetensors file that no import reads, and that
are too many for a look at the header to fetch them."""
import json
import struct
import sys

SIZE_BYTES = 16 << 20
ELEMENT_BYTES = {"U8": 1, "F16": 2}

path, dtype = sys.argv[1:]
with open(path, "rb") as file:
    data = file.read()
length = struct.unpack_from("<Q", data)[0]
header, body = json.loads(data[8:8 + length]), data[8 + length:]
header["vision_tower.weight"] = {"dtype": dtype, "shape": [SIZE_BYTES // ELEMENT_BYTES[dtype]],
                                 "data_offsets": [len(body), len(body) + SIZE_BYTES]}
text = json.dumps(header).encode()
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + body + bytes(SIZE_BYTES))
