# SPDX-License-Identifier: MIT
"""The keys of a model and their values."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Iterator, List, Optional, Tuple, Union, overload

import numpy as np

from . import _core
from ._handle import Handle
from ._names import UnknownName

__all__ = ["Elements", "Metadata"]


class Elements(Sequence[Any]):
    """The elements of a metadata array of strings or of arrays, made when they are asked for.

    A list in all that reads: index, slice, iterate, compare. Going through it from front to back
    is fastest; `tolist` makes all at once. Strings are ``str``; bytes in them that are not UTF-8
    become surrogates (``errors="surrogateescape"``), and `bytes` has them as they are.
    """

    __slots__ = ("_core", "_as_bytes")
    _PIECE = 4096  # Elements that an iteration makes at a time.

    def __init__(self, core: _core.Elements, as_bytes: bool = False) -> None:
        self._core = core
        self._as_bytes = as_bytes

    def __len__(self) -> int:
        return len(self._core)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> List[Any]: ...

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            return [wrap(self._core.get(place, self._as_bytes)) for place in places]
        position = index.__index__()
        if position < 0:
            position += len(self)
        if position < 0:
            raise IndexError("index out of range")
        return wrap(self._core.get(position, self._as_bytes))

    def __iter__(self) -> Iterator[Any]:
        cursor = self._core.cursor()
        is_plain = self._core.type == "string"
        while True:
            piece = cursor.take(self._PIECE, self._as_bytes)
            if not piece:
                return
            if is_plain:
                yield from piece
            else:
                yield from map(wrap, piece)

    def tolist(self) -> List[Any]:
        """All elements as a list; arrays of arrays as lists of lists."""
        elements = self._core.cursor().take(len(self), self._as_bytes)
        if self._core.type == "string":
            return elements
        return [wrap(element).tolist() for element in elements]

    @property
    def bytes(self) -> Elements:
        """All elements, with strings as ``bytes``, exactly as in the file."""
        return Elements(self._core, True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple, Elements)):
            return NotImplemented
        return len(self) == len(other) and all(np.array_equal(a, b) for a, b in zip(self, other))

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, value: object) -> bool:
        return any(element == value for element in self)

    def index(self, value: Any, start: int = 0, stop: Optional[int] = None) -> int:
        places = range(*slice(start, stop).indices(len(self)))
        for place, element in enumerate(self):
            if place in places and element == value:
                return place
        raise ValueError(f"{value!r} is not an element")

    def __repr__(self) -> str:
        shown = ", ".join(repr(element) for element in self[:5])
        more = ", ..." if len(self) > 5 else ""
        return f"<ingot.Elements: {len(self)} of [{shown}{more}]>"


def wrap(value: Any) -> Any:
    return Elements(value) if isinstance(value, _core.Elements) else value


def _are_equal(a: Any, b: Any) -> bool:
    is_array = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    return np.array_equal(a, b) if is_array else bool(a == b)


class Metadata(Mapping[str, Any]):
    """The keys of a model and their values, in file order; read-only.

    Integers are ``int``, floats ``float``, bools ``bool``, strings ``str`` (see `Elements` for bytes
    that are not UTF-8). Arrays of numbers are read-only NumPy arrays over the memory of the file,
    without a copy; arrays of strings and arrays are `Elements`. Looking a key up takes constant
    time.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _find(self, key: str) -> Tuple[_core.OpenModel, int]:
        core = self._handle.core
        index = core.find_key(key) if isinstance(key, str) else None
        if index is None:
            raise UnknownName(key, self)
        return core, index

    def __getitem__(self, key: str) -> Any:
        core, index = self._find(key)
        return wrap(core.value(index))

    def __iter__(self) -> Iterator[str]:
        return iter(self._handle.core.keys())

    def __len__(self) -> int:
        return self._handle.core.key_count()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._handle.core.find_key(key) is not None

    def type(self, key: str) -> str:
        """The stored type of a value: ``"uint32"``, ``"[string]"``, ``"[[float32]]"``."""
        core, index = self._find(key)
        return core.value_type(index)

    def bytes(self, key: str) -> bytes:
        """The bytes of a value as stored, without the length of a string or array."""
        core, index = self._find(key)
        return core.value_bytes(index)

    def offset(self, key: str) -> int:
        """The offset of these bytes in the file."""
        core, index = self._find(key)
        return core.value_offset(index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        # That of Mapping fails on arrays, whose == is an array.
        return self.keys() == other.keys() and all(_are_equal(value, other[key]) for key, value in self.items())

    __hash__ = None  # type: ignore[assignment]

    def _ipython_key_completions_(self) -> List[str]:
        return list(self)

    def __repr__(self) -> str:
        return "<ingot.Metadata: closed>" if self._handle.closed else f"<ingot.Metadata: {len(self)} keys>"
