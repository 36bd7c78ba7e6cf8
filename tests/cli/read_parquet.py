#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_parquet.py CATALOGUE LINES TABLES: compares the tables of a catalogue with their exports, JSON lines in the
folder LINES and Parquet in the folder TABLES.

Reads of Parquet what the program writes: plain pages, without compression.
"""
import json
import pathlib
import sqlite3
import struct
import sys


class Thrift:
    """A struct of the compact protocol, as {field: value}."""

    def __init__(self, data, offset):
        self.data, self.offset = data, offset

    def varint(self):
        number = shift = 0
        while True:
            byte = self.data[self.offset]
            self.offset += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def value(self, kind):
        if kind in (5, 6):
            number = self.varint()
            return number >> 1 ^ -(number & 1)
        if kind == 8:
            size = self.varint()
            self.offset += size
            return self.data[self.offset - size:self.offset]
        if kind == 9:
            head = self.data[self.offset]
            self.offset += 1
            size = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15) for _ in range(size)]
        assert kind == 12, kind
        fields, number = {}, 0
        while head := self.data[self.offset]:
            self.offset += 1
            number += head >> 4
            fields[number] = self.value(head & 15)
        self.offset += 1
        return fields


def read_parquet(path):
    """The names of the columns, and the rows."""
    data = path.read_bytes()
    assert data[:4] == data[-4:] == b"PAR1"
    footer = Thrift(data, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]).value(12)
    names = [element[4].decode() for element in footer[2][1:]]
    columns = [[] for _ in names]
    for group in footer[4]:
        for column, chunk in zip(columns, group[1]):
            facts = chunk[3]
            reader = Thrift(data, facts[9])
            page = reader.value(12)
            assert page[2] == page[3] and page[5][1] == facts[5] == group[3]
            end = reader.offset + page[2]
            offset = reader.offset + 4 + struct.unpack_from("<I", data, reader.offset)[0]
            levels = Thrift(data, reader.offset + 4)
            assert levels.varint() & 1 == 1  # one run of packed bits
            for row in range(facts[5]):
                if not data[levels.offset + row // 8] >> row % 8 & 1:
                    column.append(None)
                elif facts[1] == 2:
                    column.append(struct.unpack_from("<q", data, offset)[0])
                    offset += 8
                else:
                    size = struct.unpack_from("<I", data, offset)[0]
                    column.append(data[offset + 4:offset + 4 + size].decode())
                    offset += 4 + size
            assert offset == end, (path, offset, end)
    assert footer[3] == sum(group[3] for group in footer[4])
    return names, list(zip(*columns))


def main():
    base = sqlite3.connect(sys.argv[1])
    lines, tables = map(pathlib.Path, sys.argv[2:])
    names = ("files", "keys", "tensors", "findings", "texts")
    assert {path.name for path in tables.iterdir()} == {name + ".parquet" for name in names}
    for table in names:
        cursor = base.execute(f"SELECT * FROM {table}")
        columns, rows = [name for name, *_ in cursor.description], cursor.fetchall()
        assert len(rows) > 0, table
        found = [json.loads(line) for line in (lines / f"{table}.jsonl").read_text().splitlines()]
        assert found == [dict(zip(columns, row)) for row in rows], table
        # Numbers among texts are texts: a column has one type.
        kinds = {name: kind for _, name, kind, *_ in base.execute(f"PRAGMA table_info({table})")}
        expected = [tuple(value if value is None or kinds[name] == "INTEGER" else str(value)
                          for name, value in zip(columns, row)) for row in rows]
        found = read_parquet(tables / f"{table}.parquet")
        assert found[0] == columns and len(found[1]) == len(expected), table
        for one, other in zip(found[1], expected):
            assert all(a == b or float(a) == float(b) for a, b in zip(one, other)), (one, other)


main()
