# SPDX-License-Identifier: MIT
"""Models: opening, files, tensors."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._errors import Error, about, name_path, usage_error
from ._metadata import Metadata

__all__ = ["Field", "Model", "ModelFile", "Tensor", "Tensors", "open"]

# NumPy's types of the tensor types that it has.
_DTYPES = {"F32": "f4", "F16": "f2", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"}

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]


class Tensors(Mapping[str, "Tensor"]):
    """The tensors of a model by name, in file order; read-only. Look-ups take constant time."""

    __slots__ = ("_model",)

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getitem__(self, name: str) -> Tensor:
        core = self._model._core
        index = core.find_tensor(name) if isinstance(name, str) else None
        if index is None:
            raise KeyError(name)
        return Tensor(self._model, index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._model._core.tensor_names())

    def __len__(self) -> int:
        return self._model._core.tensor_count()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._model._core.find_tensor(name) is not None

    def _ipython_key_completions_(self) -> List[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"<ingot.Tensors: {len(self)} tensors>"


class Tensor:
    """One tensor of an open model. Nothing is read before it is asked for.

    Attributes
    ----------
    name : str
    type : str
        The tensor type: ``"Q4_K"``, ``"F32"``. docs/tensor-types.md lists all.
    shape : tuple of int
        In NumPy's order: the slowest-varying dimension first, a row is the last.
    ggml_shape : tuple of int
        As stored: the reverse.
    size, nbytes : int
        Elements, and stored bytes.
    shard, offset : int
        The file of the model (from 0), and the offset of the data in it.
    """

    __slots__ = ("_core", "_index", "name", "ggml_shape", "type", "type_id", "size", "nbytes",
                 "data_offset", "shard", "offset")

    def __init__(self, model: Model, index: int) -> None:
        # The core, not the Model: a tensor can be used after Model.close, like its data.
        self._core = model._core
        self._index = index
        (self.name, self.ggml_shape, self.type, self.type_id, self.size, self.nbytes,
         self.data_offset, self.shard, self.offset) = self._core.tensor(index)

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.ggml_shape[::-1]

    @property
    def ndim(self) -> int:
        return len(self.ggml_shape)

    @property
    def row_elements(self) -> int:
        """Elements of a row: the last dimension of `shape`."""
        return self.ggml_shape[0] if self.ggml_shape else 1

    @property
    def row_count(self) -> int:
        return self.size // self.row_elements if self.row_elements else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """What `numpy` returns: the stored type where NumPy has it, else float32."""
        code = _DTYPES.get(self.type)
        order = self._core.files()[self.shard]["byte_order"]
        return np.dtype((">" if order == "big" else "<") + code) if code else np.dtype("f4")

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """The stored bytes as a read-only array of uint8 of `nbytes` elements.

        A view into the file where that is mapped or in memory, which keeps it so; else a copy.
        """
        return self._core.tensor_bytes(self._index)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The numbers, in `shape`.

        A read-only view without a copy for F32, F16, F64 and integers; any other type is decoded to
        a new array of float32.
        """
        if self.type in _DTYPES:
            return self.data.view(self.dtype).reshape(self.shape)
        return self.dequantize()

    def dequantize(self, rows: Union[slice, int, None] = None,
                   out: Optional[np.ndarray[Any, Any]] = None,
                   threads: int = 0) -> np.ndarray[Any, Any]:
        """Decodes to float32, on several threads and without the GIL.

        Parameters
        ----------
        rows : slice or int, optional
            Rows are counted through all dimensions but the last. Only these are read and decoded.
        out : array of float32, optional
            Receives the numbers: C-contiguous, aligned, as many elements as the result.
        threads : int
            0: as many as the machine has cores. The numbers do not depend on it.

        Returns
        -------
        array of float32
            `out`, or a new array: of `shape` without `rows`, else of (rows, row_elements), or
            (row_elements,) for an int.

        Raises
        ------
        ingot.UsageError
            ``unsupported_type`` for types that only a lenient reader opens; ``size_mismatch`` for an
            `out` of another size.
        """
        first, count = 0, self.row_count
        shape = self.shape
        if isinstance(rows, slice):
            first, stop, step = rows.indices(self.row_count)
            if step != 1:
                raise ValueError("rows must be consecutive: the step of the slice has to be 1")
            count = max(stop - first, 0)
            shape = (count, self.row_elements)
        elif rows is not None:
            first, count = range(self.row_count)[rows], 1
            shape = (self.row_elements,)
        if out is None:
            out = np.empty(shape, np.float32)
        elif out.dtype != np.float32 or not out.flags.c_contiguous:
            raise ValueError("out must be a C-contiguous array of float32")
        self._core.dequantize_rows(self._index, first, count, out, threads)
        return out

    def __array__(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        """A copy of the numbers of a plain type, because DLPack has no read-only memory."""
        if self.type not in _DTYPES:
            raise BufferError(f"DLPack has no type for {self.type}; use dequantize()")
        return self.numpy().astype(self.dtype.newbyteorder("=")).__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)  # the CPU

    def __len__(self) -> int:
        if not self.ggml_shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.ggml_shape[-1]

    def __getitem__(self, key: Any) -> Any:
        """What `numpy` has there. Of a quantized tensor only the rows are decoded that an index or a
        slice of the first dimension needs."""
        if self.type in _DTYPES or not self.ggml_shape:
            return self.numpy()[key]
        first, *others = key if isinstance(key, tuple) else (key,)
        if not isinstance(first, (int, np.integer, slice)) or isinstance(first, bool):
            return self.numpy()[key]
        if isinstance(first, slice):
            chosen = range(len(self))[first]
            low = min(chosen[0], chosen[-1]) if chosen else 0
            high = max(chosen[0], chosen[-1]) + 1 if chosen else 0
            within: Any = slice(None, None, first.step) if chosen else slice(0, 0)
        else:
            low = range(len(self))[first]
            high, within = low + 1, 0
        rows = self.row_count // max(len(self), 1)
        part = self.dequantize(rows=slice(low * rows, high * rows))
        return part.reshape((high - low, *self.shape[1:]))[(within, *others)]

    def _repr_html_(self) -> str:
        from ._html import tensor_html  # only notebooks need it
        return tensor_html(self)

    def __repr__(self) -> str:
        return f"<ingot.Tensor {self.name!r}: {self.type} {self.shape}>"


class ModelFile(NamedTuple):
    """One file of a model: the only one, or a shard."""

    path: str
    shard: int
    version: int
    byte_order: str
    alignment: int
    file_bytes: int
    header_bytes: int
    data_offset: int
    key_count: int
    tensor_count: int


class Field(NamedTuple):
    """A run of bytes of a file with one meaning."""

    section: str
    offset: int
    nbytes: int
    name: str
    subject: str
    meaning: str


class Model:
    """An open model, made by `ingot.open`. A context manager.

    Attributes
    ----------
    metadata : Metadata
        Keys and values, a read-only mapping.
    tensors : Tensors
        Tensors by name, a read-only mapping in file order.

    Any number of threads may use one model at a time.
    """

    def __init__(self, core: _core.OpenModel) -> None:
        self._open: Optional[_core.OpenModel] = core
        self.metadata = Metadata(self)
        self.tensors = Tensors(self)

    @property
    def _core(self) -> _core.OpenModel:
        if self._open is None:
            raise ValueError("the model is closed")
        return self._open

    def close(self) -> None:
        """Ends the use of this object.

        Arrays and tensors that were taken from it stay valid: the file is unmapped when the last of
        them is gone.
        """
        self._open = None

    @property
    def closed(self) -> bool:
        return self._open is None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def format(self) -> str:
        """What the file is: ``"gguf"``, ``"safetensors"``, ``"bump"``."""
        return self._core.format()

    @property
    def paths(self) -> List[str]:
        """The files of the model; empty texts for those that are not on disk."""
        return self._core.paths()

    @property
    def files(self) -> List[ModelFile]:
        """The files as GGUF; more than one for a set of shards."""
        return [ModelFile(**facts) for facts in self._core.files()]

    @property
    def is_complete(self) -> bool:
        """Whether all shards of the set are there."""
        return self._core.is_complete()

    @property
    def notices(self) -> List[Error]:
        """What is odd about the file, and did not keep it from opening."""
        return self._core.notices()

    @property
    def facts(self) -> dict[str, str]:
        """Properties of a file of another format that are no keys, such as its dialect."""
        return self._core.facts()

    def summary(self) -> dict[str, Any]:
        """The model at a glance: architecture, parameters, context, types; None for what the file
        does not say."""
        return self._core.summary()

    def anatomy(self, file: int = 0) -> List[Field]:
        """A file explained byte by byte: every byte belongs to exactly one of the fields."""
        return [Field(*field) for field in self._core.fields(file)]

    def _repr_html_(self) -> str:
        from ._html import model_html
        return repr(self) if self._open is None else model_html(self)

    def __repr__(self) -> str:
        if self._open is None:
            return "<ingot.Model: closed>"
        name = self.paths[0] or "in memory"
        return (f"<ingot.Model {name!r}: {self.format}, {len(self.metadata)} keys, "
                f"{len(self.tensors)} tensors>")


def open(source: Source, *, access: str = "map", lenient: bool = False, shards: bool = True,
         header_only: bool = False, limits: Optional[dict[str, int]] = None) -> Model:
    """Open a model.

    Parameters
    ----------
    source : path, reference, bytes, bytearray, memoryview or file object
        A path is a file in any format that Ingot reads (the content decides), the first shard of a
        set, or a folder of safetensors. A reference is an address (``https://...``) or a name such
        as ``hf:org/repo:Q4_K_M``; only what is looked at is fetched. Bytes are the content of a
        file; they are borrowed, not copied. A file object is binary and can seek; what cannot is
        read to its end.
    access : {"map", "read"}
        Map files into memory, the fastest, or read them piece by piece: then another program that
        truncates the file causes an error, and not the end of this one.
    lenient : bool
        Also open files that break rules of numbers, or have unknown tensor types.
    shards : bool
        Look for the other files of a set beside the file.
    header_only : bool
        Read the header alone: of a file that is cut off behind it. Reading data fails.
    limits : dict, optional
        Limits for hostile files: ``max_header_bytes``, ``max_keys``, ``max_tensors``,
        ``max_string_bytes``, ``max_array_elements``, ``max_depth``.

    Returns
    -------
    Model

    Raises
    ------
    ingot.FormatError
        The file breaks its format; `code`, `offset` and `subject` say where. A ValueError.
    ingot.InputOutputError
        The file cannot be read. An OSError; FileNotFoundError if there is none.
    ingot.UsageError
        A reference that names no file, or several. A ValueError.

    Examples
    --------
    >>> with ingot.open("model.gguf") as model:
    ...     print(model.metadata["general.architecture"], len(model.tensors))
    ...     row = model.tensors["token_embd.weight"].dequantize(rows=0)
    """
    if access not in ("map", "read"):
        raise ValueError('access must be "map" or "read"')
    bounds = {} if limits is None else dict(limits)
    unknown = set(bounds) - _LIMITS
    if unknown:
        raise ValueError(f"unknown limits: {', '.join(sorted(unknown))}")
    if isinstance(source, (bytes, bytearray, memoryview, np.ndarray)):
        return Model(_core.open_bytes(source, lenient, header_only, bounds))
    if isinstance(source, (str, os.PathLike)):
        return _open_path(os.fspath(source), access, lenient, shards, header_only, bounds)
    if not hasattr(source, "read"):
        raise TypeError(f"a path, bytes or a binary file is needed, not {type(source).__name__}")
    if source.seekable():
        return Model(_core.open_file(source, lenient, header_only, bounds))
    return Model(_core.open_bytes(source.read(), lenient, header_only, bounds))


def _is_remote(path: str) -> bool:
    if hasattr(_core, "open_remote"):
        return _core.is_remote_reference(path)
    if path.startswith(("https://", "http://", "hf:", "ollama:", "ms:")):
        raise usage_error("invalid_argument", "this build does not read from servers; fetch the file "
                          "first", path)
    return False


_OTHER_FORMAT = ("not_gguf", "not_a_regular_file", "truncated", "io_error")
_LIMITS = {"max_header_bytes", "max_keys", "max_tensors", "max_string_bytes", "max_array_elements",
           "max_depth"}


def _open_path(path: str, access: str, lenient: bool, shards: bool, header_only: bool,
               limits: dict[str, int]) -> Model:
    if _is_remote(path):
        return Model(_core.open_remote(path, lenient, header_only, limits))
    try:
        return Model(_core.open_gguf(path, access, lenient, shards, header_only, limits))
    except Error as error:
        # Only what is no GGUF file may be one of another format.
        if error.code not in _OTHER_FORMAT or _core.detect_format(path) in (None, "gguf"):
            name_path(error, path)
            raise
    with about(path):
        return Model(_core.open_path(path, access, lenient, shards, header_only, limits))
