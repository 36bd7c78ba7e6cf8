# SPDX-License-Identifier: MIT
"""Writing and editing model files."""
from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._codec import Array, tensor_type
from ._errors import about
from ._facts import old_names, old_options
from ._metadata import Elements
from ._model import Model
from ._names import UnknownName
from ._tensor import Tensor
from ._values import typed
from ._work import Path, Progress

__all__ = ["Edit", "EditPlan", "Writer", "edit"]

_TYPE_OF_DTYPE = {"f4": "F32", "f2": "F16", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32",
                  "i8": "I64"}


def _path(path: Path) -> str:
    return os.fspath(path)


def _plain(value: Any) -> Any:
    return value.bytes.tolist() if isinstance(value, Elements) else value


class Writer(MutableMapping[str, Any]):
    """Writes a GGUF model; a context manager and a mapping of keys.

    The file is written at the end of the ``with`` block and appears complete or not at all; after an
    exception there is none. Data is asked for then, one tensor after the other, so a model may be
    larger than memory: arrays are borrowed until the end, and must not change.

    Parameters
    ----------
    path : path
    version : int
        Of the format: 3; 1 and 2 only little-endian.
    byte_order : {"little", "big"}
    force : bool
        Replace a file that exists; else UsageError ``already_exists``.
    lenient : bool
        Also write what only a lenient reader opens.
    progress : callable, optional
        Receives the bytes written so far. An exception, as of Ctrl-C, stops the writing.

    Examples
    --------
    >>> with ingot.Writer("tiny.gguf") as writer:
    ...     writer["general.architecture"] = "llama"
    ...     writer["llama.block_count"] = 1
    ...     writer.add_tensor("token_embd.weight", numpy.zeros((4, 256), numpy.float32))
    """

    @old_options(replace="force")
    def __init__(self, path: Path, *, version: int = 3, byte_order: str = "little",
                 force: bool = False, lenient: bool = False, progress: Progress = None) -> None:
        self.path = _path(path)
        self._core = _core.Writer()
        self._format = (version, byte_order)
        self._lenient = lenient
        self._force = force
        self._progress = progress

    def set(self, key: str, value: Any, type: Optional[str] = None) -> None:
        """Sets a key.

        Without a `type`, such as ``"uint16"`` or ``"[string]"``, NumPy's numbers keep theirs,
        standard keys have their usual one, and else an int becomes the first that holds it of
        uint32, int32, uint64, int64, a float a float32. A key that is nearly a standard one, such as
        ``general.licence``, needs a type; else `ingot.UsageError` names the one that is meant.
        """
        value = _plain(value)
        architecture = self["general.architecture"] if "general.architecture" in self else ""
        plain, stored_type = typed(key, value, type, str(architecture))
        self._core.set(key, plain, stored_type)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __getitem__(self, key: str) -> Any:
        return self._core.get(key)

    def __delitem__(self, key: str) -> None:
        if not self._core.remove(key):
            raise UnknownName(key, self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.keys())

    def __len__(self) -> int:
        return len(self._core.keys())

    def rename(self, key: str, new_key: str) -> None:
        """Gives a key another name, in its place."""
        self._core.rename(key, new_key)

    def copy_keys(self, model: Model) -> None:
        """Sets all keys of a model, with their types, without those that describe a set of shards."""
        self._core.copy_keys(model._core)

    def add_tensor(self, name: str, data: Any, type: Optional[str] = None,
                   shape: Optional[Sequence[int]] = None) -> None:
        """Adds a tensor.

        Parameters
        ----------
        name : str
        data : array, Tensor, bytes-like or callable
            An array of numbers without `type` is stored as it is; with a plain or quantized `type`
            it is encoded. A `Tensor` of an open model is copied, bytes and type; with another `type`
            its numbers are encoded. With `type` and `shape`, bytes are the encoded data, and a callable returns an iterable of pieces of
            them, which are asked for when the file is written.
        type : str, optional
            The tensor type.
        shape : sequence of int, optional
            In NumPy's order.
        """
        if isinstance(data, Tensor) and (type is None or tensor_type(type).type == data.type):
            if shape is not None and tuple(shape) != data.shape:
                raise TypeError(f"a tensor is copied in its own shape, {data.shape}; give data.numpy() instead")
            self._core.add_from(name, data._core, data._index)
            return
        if callable(data) or isinstance(data, (bytes, bytearray, memoryview)):
            if type is None or shape is None:
                raise TypeError("encoded data needs a type and a shape")
            add = self._core.add_pieces if callable(data) else self._core.add_bytes
            add(name, tensor_type(type).type, tuple(shape)[::-1], data)
            return
        self._add_array(name, np.asarray(data), type, shape)

    def _add_array(self, name: str, array: np.ndarray[Any, Any], type: Optional[str],
                   shape: Optional[Sequence[int]]) -> None:
        if shape is not None and not (array.dtype == np.uint8 and type is not None):
            array = array.reshape(tuple(shape))
        own = _TYPE_OF_DTYPE.get(array.dtype.str[1:])
        wanted = tensor_type(type).type if type is not None else own
        if wanted is None:
            raise TypeError(f"no tensor type is {array.dtype}; name one, such as type=\"F32\"")
        if array.dtype == np.uint8 and shape is not None:
            blocks, dimensions = np.ascontiguousarray(array), tuple(shape)
        elif wanted == own:
            order = ">" if self._format[1] == "big" else "<"
            blocks = np.ascontiguousarray(array, array.dtype.newbyteorder(order))
            dimensions = array.shape
        else:
            from ._codec import quantize
            blocks, dimensions = quantize(array, wanted, byte_order=self._format[1]), array.shape
        self._core.add_bytes(name, wanted, tuple(dimensions)[::-1], blocks)

    def header(self) -> bytes:
        """Everything of the file up to its data, as it will be written."""
        return self._core.header(*self._format)

    @property
    def file_bytes(self) -> int:
        """The size of the file to come."""
        return self._core.file_bytes(*self._format)

    def write(self) -> None:
        """Writes the file; the end of the ``with`` block does it."""
        with about(self.path):
            self._core.write(self.path, *self._format, self._lenient, self._force, self._progress)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.write()

    def __repr__(self) -> str:
        return f"<ingot.Writer {self.path!r}: {len(self)} keys>"


@old_names(has_undone_earlier="undone_earlier")
class EditPlan(NamedTuple):
    """The effect of an edit, before or after it is made; docs/edit.md explains each `way`."""

    way: str
    bytes_to_write: int
    file_bytes: int
    data_offset: int
    slack_bytes: int
    padding_bytes: int
    undone_earlier: bool = False


class Edit(MutableMapping[str, Any]):
    """Changes to one file, made by `ingot.edit`; a context manager and a mapping of keys.

    Attributes
    ----------
    outcome : EditPlan or None
        What was done, after the ``with`` block.
    """

    @old_options(replace="force")
    def __init__(self, path: Path, output: Optional[Path] = None, *, force: bool = False,
                 reserve: Optional[int] = None, lenient: bool = False,
                 wait: Optional[float] = None, progress: Progress = None) -> None:
        self.path = _path(path)
        self.outcome: Optional[EditPlan] = None
        self._output = None if output is None else _path(output)
        self._force = force
        self._progress = progress
        with about(self.path):
            self._open: Optional[_core.Edit] = _core.Edit(self.path, lenient,
                                                          -1 if wait is None else wait)
        self._keys: Dict[str, None] = dict.fromkeys(self._open.keys())
        if reserve is not None:
            self._open.reserve(reserve)

    @property
    def _core(self) -> _core.Edit:
        if self._open is None:
            raise ValueError("the edit is over")
        return self._open

    def __getitem__(self, key: str) -> Any:
        return self._core.find(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def set(self, key: str, value: Any, type: Optional[str] = None) -> None:
        """Sets a key. Without a `type` a key keeps its type where the value fits it; new keys have
        the types of `Writer.set`."""
        plain, stored = typed(key, _plain(value), type, self._core.architecture(),
                              self._core.type_of(key))
        self._core.set(key, plain, stored)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        if key not in self._keys:
            raise UnknownName(key, self)
        self._core.remove_key(key)
        del self._keys[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def type(self, key: str) -> str:
        """The type of a value: ``"uint32"``, ``"[string]"``."""
        if key not in self._keys:
            raise UnknownName(key, self)
        return self._core.type_of(key)

    def rename_key(self, key: str, new_key: str) -> None:
        """Gives a key another name, in its place."""
        self._core.rename_key(key, new_key)
        self._keys = {new_key if name == key else name: None for name in self._keys}

    def rename_tensor(self, name: str, new_name: str) -> None:
        """Gives a tensor another name."""
        self._core.rename_tensor(name, new_name)

    def remove_tensor(self, name: str) -> None:
        """Removes a tensor with its data, which takes a new file."""
        self._core.remove_tensor(name)

    def plan(self) -> EditPlan:
        """Plans what saving would do; writes nothing."""
        with about(self.path):
            return EditPlan(**self._core.plan(self._output))

    def save(self) -> EditPlan:
        """Saves the changes; the end of the ``with`` block does it."""
        core, self._open = self._core, None
        with about(self._output or self.path):
            self.outcome = EditPlan(**core.save(self._output, self._force, self._progress))
        return self.outcome

    def discard(self) -> None:
        """Ends the edit without a change."""
        self._open = None

    def __enter__(self) -> Edit:
        return self

    def __repr__(self) -> str:
        state = self.outcome.way if self.outcome else "over" if self._open is None else f"{len(self)} keys"
        return f"<ingot.Edit {self.path!r}: {state}>"

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            self.discard()
        elif self._open is not None:
            self.save()


@old_options(replace="force")
def edit(path: Path, output: Optional[Path] = None, *, force: bool = False,
         reserve: Optional[int] = None, lenient: bool = False, wait: Optional[float] = None,
         progress: Progress = None) -> Edit:
    """Edit the keys and tensor names of a GGUF file, without writing its data again if possible.

    Parameters
    ----------
    path : path
        The file; locked against other edits until the end of the ``with`` block.
    output : path, optional
        A new file, instead of changing this one.
    force : bool
        Replace an `output` that exists.
    reserve : int, optional
        Bytes of slack to keep before the data for later edits.
    lenient : bool
        Also open files that only a lenient reader opens.
    wait : float, optional
        Seconds to wait for another edit of the file; default 10.
    progress : callable, optional
        Receives the bytes written so far.

    Returns
    -------
    Edit
        Use it in a ``with`` block, whose end saves; an exception in it leaves the file as it was.
        So does a kill or a full disk at any moment.

    Examples
    --------
    >>> with ingot.edit("model.gguf") as keys:
    ...     keys["general.name"] = "My model"
    ...     del keys["general.url"]
    >>> keys.outcome.way
    'in_place'
    """
    return Edit(path, output, force=force, reserve=reserve, lenient=lenient, wait=wait,
                progress=progress)
