# SPDX-License-Identifier: MIT
"""Quantizing and dequantizing arrays."""
from typing import Any, Sequence, Tuple

import numpy as np

from ingot import _codec
from ingot.gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

__all__ = ["dequantize", "quantize"]

Array = "np.ndarray[Any, Any]"


class QuantError(Exception):
    """The shape does not fit the type."""


def quant_shape_to_byte_shape(shape: Sequence[int], quant_type: Any) -> Tuple[int, ...]:
    """The shape of the bytes of an array of blocks."""
    elements, size = GGML_QUANT_SIZES[quant_type]
    if shape[-1] % elements != 0:
        raise ValueError(f"Quantized tensor row size ({shape[-1]}) is not a multiple of "
                         f"{GGMLQuantizationType(quant_type).name} block size ({elements})")
    return (*shape[:-1], shape[-1] // elements * size)


def quant_shape_from_byte_shape(shape: Sequence[int], quant_type: Any) -> Tuple[int, ...]:
    """The reverse."""
    elements, size = GGML_QUANT_SIZES[quant_type]
    if shape[-1] % size != 0:
        raise ValueError(f"Quantized tensor bytes per row ({shape[-1]}) is not a multiple of "
                         f"{GGMLQuantizationType(quant_type).name} type size ({size})")
    return (*shape[:-1], shape[-1] // size * elements)


def quantize(data: Any, qtype: Any) -> Any:
    """Numbers as a type: float32 and float16 for F32 and F16, else blocks as uint8."""
    qtype = GGMLQuantizationType(qtype)
    if qtype == GGMLQuantizationType["F32"]:
        return np.asarray(data).astype(np.float32, copy=False)
    if qtype == GGMLQuantizationType["F16"]:
        return np.asarray(data).astype(np.float16, copy=False)
    array = np.asarray(data)
    if array.shape[-1] % GGML_QUANT_SIZES[qtype][0] != 0:
        raise QuantError(f"Can't quantize tensor with shape {array.shape} to {qtype.name}")
    return _codec.quantize(array.astype(np.float32, copy=False), qtype.name)


def dequantize(data: Any, qtype: Any) -> Any:
    """Stored data as float32."""
    qtype = GGMLQuantizationType(qtype)
    array = np.asarray(data)
    if qtype == GGMLQuantizationType["F32"]:
        return array.view(np.float32)
    if qtype == GGMLQuantizationType["F16"]:
        return array.view(np.float16).astype(np.float32)
    blocks = np.ascontiguousarray(array).view(np.uint8)
    return _codec.dequantize(blocks, qtype.name, quant_shape_from_byte_shape(blocks.shape, qtype))
