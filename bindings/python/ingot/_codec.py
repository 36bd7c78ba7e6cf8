# SPDX-License-Identifier: MIT
"""Blocks of tensor types to numbers and back."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._errors import usage_error
from ._facts import Facts, as_rows, old_names

__all__ = ["TensorType", "dequantize", "measure_error", "quantize", "swap_byte_order",
           "tensor_type", "tensor_types"]

Array = Any  # Whatever NumPy makes an array of.


@old_names(name="type", importance="importance_weights")
class TensorType(NamedTuple):
    """A row of the table of tensor types, as `ingot types` has it; ``id`` is the number in files."""

    id: int
    type: str
    block_elements: int
    block_bytes: int
    bits_per_weight: float
    can_encode: bool
    importance_weights: str

    @property
    def is_quantized(self) -> bool:
        """Whether elements share a block."""
        return self.block_elements > 1


#: Every tensor type that can be in a file, by name.
tensor_types: Dict[str, TensorType] = {
    row.type: row for row in as_rows(TensorType, _core.tensor_types)
}


def tensor_type(name: str) -> TensorType:
    """The row of a type, by its name in any case. Raises `ingot.UsageError` for others."""
    try:
        return tensor_types[str(name).upper()]
    except KeyError:
        raise usage_error("unsupported_type", f"{name!r} is no tensor type; known are "
                          f"{', '.join(tensor_types)}", str(name)) from None


def dequantize(data: Array, type: str, shape: Optional[Sequence[int]] = None, *,
               out: Optional[np.ndarray[Any, Any]] = None, byte_order: str = "little",
               threads: int = 0) -> np.ndarray[Any, Any]:
    """Decode blocks to float32.

    Parameters
    ----------
    data : bytes-like or array
        Whole blocks, back to back.
    type : str
        The tensor type, such as ``"Q4_K"``.
    shape : sequence of int, optional
        Of the result, in NumPy's order; default: one dimension.
    out : array of float32, optional
        Receives the numbers: C-contiguous, of the size of the result.
    byte_order : {"little", "big"}
        Of the blocks.
    threads : int
        0: as many as the machine has cores.

    Returns
    -------
    array of float32
        The same bits on every machine, for any number of threads.

    Raises
    ------
    ingot.UsageError
        ``size_mismatch`` if `data` is not whole blocks or does not fit `shape` or `out`.
    """
    row = tensor_type(type)
    blocks: Any = np.ascontiguousarray(data) if isinstance(data, np.ndarray) else memoryview(data)
    if blocks.nbytes % row.block_bytes:
        raise usage_error("size_mismatch", f"{blocks.nbytes} bytes are no whole blocks of {row.type}, "
                          f"which have {row.block_bytes} bytes")
    elements = blocks.nbytes // row.block_bytes * row.block_elements
    if out is None:
        out = np.empty(elements, np.float32)
        if shape is not None and int(np.prod(shape, dtype=object)) == elements:
            out = out.reshape(tuple(shape))
        elif shape is not None:
            raise usage_error("size_mismatch", f"{blocks.nbytes} bytes of {row.type} are {elements} numbers, "
                              f"which do not fit the shape {tuple(shape)}")
    elif out.dtype != np.float32 or not out.flags.c_contiguous:
        raise ValueError("out must be a C-contiguous array of float32")
    _core.decode(row.type, blocks, out, byte_order, threads)
    return out


def _as_floats(array: Array) -> np.ndarray[Any, Any]:
    """Any numbers as C-contiguous float32; uint16 is bfloat16."""
    numbers = np.asarray(array)
    if numbers.dtype.name == "bfloat16":  # of ml_dtypes
        numbers = numbers.view(np.uint16)
    if numbers.dtype == np.uint16:
        return dequantize(np.ascontiguousarray(numbers), "BF16", numbers.shape)
    if numbers.dtype.kind not in "fiu":
        raise TypeError(f"numbers are needed, not {numbers.dtype}")
    return np.ascontiguousarray(numbers, np.float32)


def quantize(array: Array, type: str, importance: Optional[Array] = None, *,
             effort: str = "reference", byte_order: str = "little", threads: int = 0) -> np.ndarray[Any, Any]:
    """Encode numbers as blocks of a tensor type.

    Parameters
    ----------
    array : array
        float32, float16, float64 or integers; bfloat16 as uint16, or of ml_dtypes. The last
        dimension is a row, and has to be whole blocks.
    type : str
        The tensor type, such as ``"Q4_K"``.
    importance : array of float, optional
        How much an error in each column matters: as many numbers as a row has.
    effort : {"reference", "best", "auto"}
        How blocks are chosen: as the reference implementation, ggml, does it; or those with the
        least error that a search finds, which takes several times as long; or those blocks by
        their lattice that lie on one, as int4 checkpoints do, and the others as ggml.
    byte_order : {"little", "big"}
        Of the blocks.
    threads : int
        0: as many as the machine has cores.

    Returns
    -------
    array of uint8
        The blocks: the shape of `array`, with the bytes of a row as the last dimension. With
        effort "reference" the same bytes as those of the reference implementation, ggml.

    Raises
    ------
    ingot.UsageError
        ``weights_required`` for types that need an importance; ``row_not_whole_blocks`` (a
        FormatError); ``invalid_argument`` if an importance is not finite, or for another `effort`.
    """
    row = tensor_type(type)
    numbers = _as_floats(array)
    columns = numbers.shape[-1] if numbers.ndim else 1
    weights = None if importance is None else np.ascontiguousarray(importance, np.float32)
    shape: Tuple[int, ...] = numbers.shape[:-1] + (columns // row.block_elements * row.block_bytes,)
    blocks = np.empty(shape, np.uint8)
    _core.encode(row.type, numbers, columns, blocks, weights, effort, byte_order, threads)
    return blocks


def measure_error(reference: Array, numbers: Array) -> Facts:
    """Measures the distance of numbers from a reference: ``rmse``, ``sqnr_db``, ``max``, ``count``,
    ``squared_error``, ``squared_signal``.

    Pairs of which one is not finite are left out.
    """
    return Facts(_core.compare_floats(_as_floats(reference), _as_floats(numbers)),
                 {"largest": ("max",)})


def swap_byte_order(blocks: Array, type: str) -> np.ndarray[Any, Any]:
    """A copy of whole blocks in the other byte order, as uint8 of the same shape."""
    swapped = np.array(np.frombuffer(blocks, np.uint8) if not isinstance(blocks, np.ndarray)
                       else blocks.view(np.uint8), np.uint8, copy=True)
    _core.swap_byte_order(tensor_type(type).type, swapped)
    return swapped
