# SPDX-License-Identifier: MIT
"""The tensors of a model."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._handle import Handle
from ._names import UnknownName
from ._html import tensor_html

__all__ = ["Tensor", "Tensors"]

# NumPy's types of the tensor types that it has.
_DTYPES = {"F32": "f4", "F16": "f2", "F64": "f8", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"}


class Tensors(Mapping[str, "Tensor"]):
    """The tensors of a model by name, in file order; read-only. Look-ups take constant time."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __getitem__(self, name: str) -> Tensor:
        core = self._handle.core
        index = core.find_tensor(name) if isinstance(name, str) else None
        if index is None:
            raise UnknownName(name, self)
        return Tensor(core, index)

    def __iter__(self) -> Iterator[str]:
        return iter(self._handle.core.tensor_names())

    def __len__(self) -> int:
        return self._handle.core.tensor_count()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._handle.core.find_tensor(name) is not None

    def _ipython_key_completions_(self) -> List[str]:
        return list(self)

    def __repr__(self) -> str:
        return "<ingot.Tensors: closed>" if self._handle.closed else f"<ingot.Tensors: {len(self)} tensors>"


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

    def __init__(self, core: _core.OpenModel, index: int) -> None:
        # The core, not the handle: a tensor can be used after Model.close, like its data.
        self._core = core
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
        """The type that `numpy` returns: the stored type if NumPy has it, else float32."""
        code = _DTYPES.get(self.type)
        order = self._core.files()[self.shard]["endian"]
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
        """The elements of `numpy` at an index. Of a quantized tensor only the rows are decoded that
        an index or a slice of the first dimension needs."""
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
        statistics = None
        if self.type in {row["type"] for row in _core.tensor_types} and self.size:
            statistics = _core.stats(self._core, [self._index], 64, None, 0, None)[0]
        return tensor_html(self.name, self.type, self.shape, self.nbytes, statistics)

    def __repr__(self) -> str:
        return f"<ingot.Tensor {self.name!r}: {self.type} {self.shape}>"
