# SPDX-License-Identifier: MIT
"""The value type that a Python value gets where the caller names none."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Dict, Tuple, Type

import numpy as np

from . import _core
from ._errors import usage_error
from ._names import nearest

# The value types by NumPy's kind and size of a number.
_OF_DTYPE = {"f4": "float32", "f8": "float64", "f2": "float32", "u1": "uint8", "i1": "int8",
             "u2": "uint16", "i2": "int16", "u4": "uint32", "i4": "int32", "u8": "uint64",
             "i8": "int64", "b1": "bool"}
_DTYPES = {name: code for code, name in _OF_DTYPE.items() if code != "f2"}


def _integer_type(low: int, high: int, names: Tuple[str, ...]) -> str:
    for name in names:
        info = np.iinfo(_DTYPES[name])
        if info.min <= low and high <= info.max:
            return name
    raise OverflowError(f"{low if low < 0 else high} does not fit 64 bits")


def _number_type(dtype: np.dtype[Any]) -> str:
    try:
        return _OF_DTYPE[dtype.str[1:]]
    except KeyError:
        raise TypeError(f"NumPy's {dtype} cannot be stored as metadata") from None


def _refuse_mixture(values: Any) -> None:
    """Raises a TypeError: the format has no mappings, and in an array all are texts, numbers or arrays."""
    if isinstance(values, Mapping) or not hasattr(values, "__getitem__"):
        raise TypeError(f"a value of type {type(values).__name__} cannot be stored as metadata; a list can")
    kinds: Dict[str, Type[Any]] = {}
    for kind in set(map(type, values)):
        is_list = hasattr(kind, "__len__") and not issubclass(kind, Mapping)
        kinds["text" if issubclass(kind, (str, bytes)) else
              "number" if issubclass(kind, (int, float, np.bool_, np.number)) else
              "list" if is_list else kind.__name__] = kind
    unknown = set(kinds) - {"text", "number", "list"}
    if unknown:
        raise TypeError(f"a list with a value of type {min(unknown)} cannot be stored as metadata")
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds.values()))
        raise TypeError(f"the elements of an array have one type; these are {names}")


def _array_type(values: Any) -> str:
    """The type of a list; an empty one has to come with a type."""
    first = values[0]
    if isinstance(first, (str, bytes)):
        return "[string]"
    if isinstance(first, (bool, np.bool_)):
        return "[bool]"
    if isinstance(first, np.ndarray) or (hasattr(first, "__len__") and hasattr(first, "__iter__")):
        return f"[{value_type(first)}]"
    if any(isinstance(value, (float, np.floating)) for value in values):
        return "[float32]"
    # Lists of integers are signed, as all writers store token types and counts of heads.
    return f"[{_integer_type(int(min(values)), int(max(values)), ('int32', 'int64', 'uint64'))}]"


def value_type(value: Any) -> str:
    """The type of a value that is no standard key.

    NumPy numbers and arrays keep their type. A bool is a bool, a str or bytes a string, a float a
    float32 (engines read no other), an int the first that holds it of uint32, int32, uint64, int64,
    a list an array of the type of its elements.
    """
    if isinstance(value, (str, bytes)):
        return "string"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, np.generic):
        return _number_type(value.dtype)
    if isinstance(value, int):
        return _integer_type(value, value, ("uint32", "int32", "uint64", "int64"))
    if isinstance(value, float):
        return "float32"
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "US":
            return "[string]"
        inner = _number_type(value.dtype)
        return "[" * value.ndim + inner + "]" * value.ndim
    if hasattr(value, "__len__") and hasattr(value, "__iter__"):
        if len(value) == 0:
            raise ValueError("the type of an empty list is unknown; name it: type=\"[string]\"")
        return _array_type(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be stored as metadata")


def typed(key: str, value: Any, type: str | None, architecture: str,
          stored: str = "") -> Tuple[Any, str]:
    """A value as the core takes it, and its type: the one that is named, else that of NumPy's
    numbers, else the type that is stored, else the usual one of a standard key."""
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes, np.generic, np.ndarray)):
        _refuse_mixture(value)
    if type is None:
        is_array = not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
        if not stored:
            _refuse_misspelt(key, architecture)
        if not isinstance(value, (np.generic, np.ndarray)):
            type = stored or _core.usual_type(key, architecture, is_array)
        if not type or type.startswith("[") != is_array or not _fits(value, type):
            type = value_type(value)
    inner = type[1:-1] if type.startswith("[") else ""
    if inner in _DTYPES and inner != "bool":
        array = np.asarray(value)
        if array.dtype.kind in "iu" and _DTYPES[inner][0] in "iu" and array.size:
            info = np.iinfo(_DTYPES[inner])
            if int(array.min()) < info.min or int(array.max()) > info.max:
                raise OverflowError(f"a number of {key} does not fit {inner}")
        return np.ascontiguousarray(array, _DTYPES[inner]), type
    if isinstance(value, np.generic):
        return value.item(), type
    if isinstance(value, np.ndarray) and inner in ("bool", "string"):
        return value.tolist(), type
    if inner.startswith("["):
        return [typed(key, element, inner, architecture)[0] for element in value], type
    return value, type


def _refuse_misspelt(key: str, architecture: str) -> None:
    names = [f"{architecture}.{name}" if has_architecture else name
             for name, has_architecture, _, _ in _core.standard_keys()]
    near = None if key in names else nearest(key, names, 0.93)
    if near is not None:
        raise usage_error("invalid_argument", f"{key!r} is no standard key; did you mean {near!r}? A key of "
                          "your own needs a type, as in set(key, value, \"string\")", key)


def _fits(value: Any, type: str) -> bool:
    """Whether a scalar can have the usual type; else its own counts."""
    if type.startswith("["):
        return True
    if type == "string":
        return isinstance(value, (str, bytes))
    if type == "bool":
        return isinstance(value, bool)
    if isinstance(value, (str, bytes, bool)):
        return False
    if type in ("float32", "float64"):
        return True
    if isinstance(value, float):
        return False
    info = np.iinfo(_DTYPES[type])
    return bool(info.min <= value <= info.max)
