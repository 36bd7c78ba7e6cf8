# SPDX-License-Identifier: MIT
"""A reader of what an import writes, made of the format's rules alone."""
import struct

TYPE_NAMES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 30: "BF16",
              39: "MXFP4", 40: "NVFP4"}
VALUE_TYPES = {4: ("u32", "I"), 5: ("i32", "i"), 6: ("f32", "f"), 7: ("bool", "?"), 8: ("str", "")}


class Gguf:
    """Keys as name -> (type, value), and tensors as (name, type, dims, bytes), in order."""

    def __init__(self, data):
        self.data, self.at = data, 24
        tensor_count, key_count = struct.unpack_from("<QQ", data, 8)
        self.keys = {}
        for _ in range(key_count):
            name = self.text()
            self.keys[name] = self.value(self.take("I"))
        infos = []
        for _ in range(tensor_count):
            name = self.text()
            dims = [self.take("Q") for _ in range(self.take("I"))]
            infos.append((name, TYPE_NAMES[self.take("I")], dims, self.take("Q")))
        begin = (self.at + 31) // 32 * 32
        ends = [offset for *_, offset in infos[1:]] + [len(data) - begin]
        self.tensors = [(name, kind, dims, data[begin + offset:begin + end])
                        for (name, kind, dims, offset), end in zip(infos, ends)]

    def take(self, form):
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind != 9:
            name, form = VALUE_TYPES[kind]
            return name, self.take(form) if form else self.text()
        element, count = self.take("I"), self.take("Q")
        name, form = VALUE_TYPES[element]
        return f"[{name}]", [self.take(form) if form else self.text() for _ in range(count)]
