# SPDX-License-Identifier: MIT
"""The classes that scripts use of the package gguf (gguf-py), over Ingot.

``import ingot.gguf as gguf`` is all that a script changes; ``python3 -m ingot.gguf SCRIPT ARGS`` runs
one unchanged. The facts, such as numbers of types and names of keys, are those of Ingot's tables.
"""
from . import quants
from .constants import (GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, GGUF_MAGIC, GGUF_VERSION,
                        GGMLQuantizationType, GGUFEndian, GGUFValueType, Keys, LlamaFileType,
                        TokenType)
from .quants import dequantize, quantize
from .reader import GGUFReader, ReaderField, ReaderTensor
from .writer import GGUFWriter
