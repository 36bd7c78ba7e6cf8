# SPDX-License-Identifier: MIT
"""GGUFReader: fields with their parts, as scripts of gguf-py take them apart.

The library checks the file and finds everything in it; parts are views of a numpy.memmap and are made
when they are asked for, so that a vocabulary costs nothing until a script looks at it.
"""
import os
import sys
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ingot import _model
from ingot._errors import Error
from ingot.gguf.constants import (GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, GGMLQuantizationType, GGUFEndian,
                        GGUFValueType, VALUE_TYPE_NAMES)
from ingot.gguf.quants import quant_shape_to_byte_shape

__all__ = ["GGUFReader", "ReaderField", "ReaderTensor"]

_NUMBERS: Dict[Any, Any] = {
    GGUFValueType["UINT8"]: np.uint8, GGUFValueType["INT8"]: np.int8,
    GGUFValueType["UINT16"]: np.uint16, GGUFValueType["INT16"]: np.int16,
    GGUFValueType["UINT32"]: np.uint32, GGUFValueType["INT32"]: np.int32,
    GGUFValueType["FLOAT32"]: np.float32, GGUFValueType["UINT64"]: np.uint64,
    GGUFValueType["INT64"]: np.int64, GGUFValueType["FLOAT64"]: np.float64,
    GGUFValueType["BOOL"]: np.bool_,
}
_BY_NAME = {name: GGUFValueType(number) for number, name in VALUE_TYPE_NAMES.items()}
_PLAIN = {"F16": np.float16, "F32": np.float32, "F64": np.float64, "I8": np.int8, "I16": np.int16,
          "I32": np.int32, "I64": np.int64}


_MAX_DIMENSIONS = 4
_TOO_MANY_DIMENSIONS = f"exceeds GGML_MAX_DIMS ({_MAX_DIMENSIONS})"
# The words of gguf-py for errors, which callers look for.
_WORDS = {
    "not_gguf": "GGUF magic invalid", "count_exceeds_file": "it requires at least more bytes than remain",
    "dimension_count_invalid": _TOO_MANY_DIMENSIONS, "key_duplicate": "already in list",
    "tensor_duplicate": "Found duplicated tensor",
    "alignment_wrong_type": "Bad type for general.alignment field",
    "alignment_invalid": "Invalid alignment",
}


class _Parts(Sequence[Any]):
    """The places of parts (offset, type, count), which become arrays when they are asked for."""

    def __init__(self, reader: "GGUFReader", places: Any) -> None:
        self._reader = reader
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self._reader._get(*self._places[index])


class _ArrayPlaces(Sequence[Any]):
    """The places of an array: its head, then one for each number or two for each string."""

    def __init__(self, head: List[Tuple[int, Any, int]], start: int, lengths: Any,
                 number: Any, count: int) -> None:
        self._head = head
        self._start = start
        self._lengths = lengths  # Bytes of the strings, as a function: it costs time.
        self._number = number
        self._count = count
        self._offsets: Any = None

    def __len__(self) -> int:
        return len(self._head) + self._count * (1 if self._number is not None else 2)

    def __getitem__(self, index: Any) -> Any:
        index = index + len(self) if index < 0 else index
        if not 0 <= index < len(self):
            raise IndexError("list index out of range")
        if index < len(self._head):
            return self._head[index]
        index -= len(self._head)
        if self._number is not None:
            return self._start + index * np.dtype(self._number).itemsize, self._number, 1
        if self._offsets is None:
            self._lengths = np.array(self._lengths(), np.int64)
            self._offsets = self._start + 8 * np.arange(self._count) + \
                np.concatenate(([0], np.cumsum(self._lengths)[:-1]))
        place, is_text = divmod(index, 2)
        if is_text:
            return int(self._offsets[place]) + 8, np.uint8, int(self._lengths[place])
        return int(self._offsets[place]), np.uint64, 1


class ReaderField(NamedTuple):
    """A field of a file: `parts` are all of its pieces, `data` the indexes of those that are the
    value."""

    offset: int
    name: str
    parts: Any = ()
    data: Any = (-1,)
    types: List[Any] = []

    def contents(self, index_or_slice: Union[int, slice] = slice(None)) -> Any:
        """The value as objects of Python; of an array an element, or those of a slice."""
        if not self.types:
            return None
        if self.types[0] == GGUFValueType["STRING"]:
            return str(self.parts[-1].tobytes(), encoding="utf-8")
        if self.types[0] != GGUFValueType["ARRAY"]:
            return self.parts[-1].tolist()[0]
        chosen = self.data[index_or_slice]
        places = [chosen] if isinstance(index_or_slice, int) else chosen
        if self.types[-1] == GGUFValueType["STRING"]:
            values = [str(self.parts[place].tobytes(), encoding="utf-8") for place in places]
        else:
            values = [number for place in places for number in self.parts[place].tolist()]
        return values[0] if isinstance(index_or_slice, int) else values


class ReaderTensor(NamedTuple):
    """A tensor; `shape` is as stored, `data` in NumPy's order, of quantized types its bytes."""

    name: str
    tensor_type: Any
    shape: Any
    n_elements: int
    n_bytes: int
    data_offset: int
    data: Any
    field: ReaderField


class GGUFReader:
    """Reads a file of GGUF; with ``mode="r+"`` what is written to parts goes to the file.

    Raises
    ------
    ValueError
        The file breaks the format: an `ingot.FormatError`.
    """

    byte_order: Any = "I"  # "S" if it is not that of this machine
    gguf_scalar_to_np = _NUMBERS

    def __init__(self, path: "Union[str, os.PathLike[str]]", mode: Any = "r") -> None:
        try:
            self._model = _model.open(os.fspath(path), lenient=True, shards=False)
        except Error as error:
            if error.code in _WORDS:
                error.args = (f"{error} ({_WORDS[error.code]})",)
            raise
        self.data = np.memmap(path, mode=mode)
        file = self._model.files[0]
        if file.version < 2:
            raise ValueError(f"Sorry, file appears to be version {file.version} which we cannot handle")
        self.byte_order = "I" if file.endian == sys.byteorder else "S"
        self.endianess = GGUFEndian.BIG if file.endian == "big" else GGUFEndian.LITTLE
        self.alignment = file.alignment or GGUF_DEFAULT_ALIGNMENT
        self.data_offset = file.data_offset
        self.fields: "OrderedDict[str, ReaderField]" = OrderedDict()
        for place, name, number in ((4, "GGUF.version", "UINT32"),
                                    (8, "GGUF.tensor_count", "UINT64"), (16, "GGUF.kv_count", "UINT64")):
            kind = GGUFValueType[number]
            self.fields[name] = ReaderField(place, name, [self._get(place, _NUMBERS[kind])], [0], [kind])
        for key in self._model.metadata:
            self.fields[key] = self._field(key)
        self.tensors = self._tensors(file)

    def get_field(self, key: str) -> Optional[ReaderField]:
        return self.fields.get(key)

    def get_tensor(self, idx: int) -> ReaderTensor:
        return self.tensors[idx]

    def _get(self, offset: int, dtype: Any, count: int = 1) -> Any:
        kind = np.dtype(dtype)
        array = self.data[offset:offset + kind.itemsize * count].view(kind)
        return array.view(array.dtype.newbyteorder(self.byte_order))

    def _field(self, key: str) -> ReaderField:
        metadata = self._model.metadata
        name = key.encode("utf-8", "surrogateescape")
        type_text = metadata.type(key)
        depth = type_text.count("[")
        inner = _BY_NAME[type_text.strip("[]")]
        value = metadata.offset(key)
        # A string has its length before the value, an array its type and its length.
        lead = 12 if depth else (8 if inner == GGUFValueType["STRING"] else 0)
        start = value - lead - 4 - len(name) - 8
        head = [(start, np.uint64, 1), (start + 8, np.uint8, len(name)),
                (start + 8 + len(name), np.uint32, 1)]
        types = [GGUFValueType["ARRAY"]] * depth + [inner]
        if not depth:
            if lead:
                places = [*head, (value - 8, np.uint64, 1), (value, np.uint8, len(metadata.bytes(key)))]
                return ReaderField(start, key, _Parts(self, places), [4], types)
            return ReaderField(start, key, _Parts(self, [*head, (value, _NUMBERS[inner], 1)]), [3], types)
        return self._array_field(key, start, head, value, types)

    def _array_field(self, key: str, start: int, head: Any, value: int, types: List[Any]) -> ReaderField:
        elements = self._model.metadata[key]
        count = len(elements)
        if len(types) > 2:
            nested: List[Any] = []
            data: Any = []
            self._flatten(value - 12, nested, data)
            indexes = [len(head) + index for index in data]
            return ReaderField(start, key, _Parts(self, [*head, *nested]), indexes, types)
        head = [*head, (value - 12, np.uint32, 1), (value - 8, np.uint64, 1)]
        number = _NUMBERS.get(types[1])
        places = _ArrayPlaces(head, value, lambda: [len(text) for text in elements.bytes], number, count)
        step = 1 if number is not None else 2
        first = len(head) + step - 1
        data = range(first, first + step * count, step)
        return ReaderField(start, key, _Parts(self, places), data, types if count else types[:1])

    def _flatten(self, offset: int, places: List[Any], data: List[int]) -> int:
        """Appends the places of an array with all arrays in it; returns the offset behind it."""
        kind = GGUFValueType(int(self._get(offset, np.uint32)[0]))
        count = int(self._get(offset + 4, np.uint64)[0])
        places += [(offset, np.uint32, 1), (offset + 4, np.uint64, 1)]
        offset += 12
        for _ in range(count):
            if kind == GGUFValueType["ARRAY"]:
                offset = self._flatten(offset, places, data)
                continue
            if kind == GGUFValueType["STRING"]:
                places.append((offset, np.uint64, 1))
                places.append((offset + 8, np.uint8, int(self._get(offset, np.uint64)[0])))
            else:
                places.append((offset, _NUMBERS[kind], 1))
            data.append(len(places) - 1)
            last, number, length = places[-1]
            offset = last + np.dtype(number).itemsize * length
        return offset

    def _tensors(self, file: Any) -> List[ReaderTensor]:
        tensors = list(self._model.tensors.values())
        names = [tensor.name.encode("utf-8", "surrogateescape") for tensor in tensors]
        sizes = [24 + len(name) + 8 * tensor.ndim for name, tensor in zip(names, tensors)]
        offset = file.header_bytes - sum(sizes)
        made = []
        for name, size, tensor in zip(names, sizes, tensors):
            made.append(self._tensor(offset, name, tensor))
            offset += size
        return made

    def _tensor(self, offset: int, name: bytes, tensor: Any) -> ReaderTensor:
        if tensor.ndim > _MAX_DIMENSIONS:
            raise ValueError(f"{tensor.name}: the number of dimensions {_TOO_MANY_DIMENSIONS}")
        after_name = offset + 8 + len(name)
        after_shape = after_name + 4 + 8 * tensor.ndim
        parts = _Parts(self, [(offset, np.uint64, 1), (offset + 8, np.uint8, len(name)),
                              (after_name, np.uint32, 1), (after_name + 4, np.uint64, tensor.ndim),
                              (after_shape, np.uint32, 1), (after_shape + 4, np.uint64, 1)])
        kind = GGMLQuantizationType(tensor.type_id)
        plain = _PLAIN.get(kind.name)
        if plain is not None:
            data = self._get(tensor.offset, plain, tensor.size).reshape(tensor.shape)
        else:
            shape = quant_shape_to_byte_shape(tensor.shape, kind)
            data = self._get(tensor.offset, np.uint8, tensor.nbytes).reshape(shape)
        return ReaderTensor(tensor.name, kind, parts[3], tensor.size, tensor.nbytes, tensor.offset,
                            data, ReaderField(offset, tensor.name, parts, [1, 3, 4, 5]))
