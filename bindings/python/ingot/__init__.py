# SPDX-License-Identifier: MIT
"""Ingot: the files in which language models are distributed, from Python.

>>> import ingot
>>> with ingot.open("model.gguf") as model:
...     print(model.metadata["general.name"])
...     for name, tensor in model.tensors.items():
...         print(name, tensor.type, tensor.shape)
...     weights = model.tensors["output.weight"].numpy()

`open` reads, `Writer` and `edit` write; `dequantize` and `quantize` decode and encode arrays; all
else works on whole models and has the name of the command of the program that does the same.
"""
from ._checks import (Difference, Digests, Distance, Finding, Mismatch, Repair, RepairStep, Statistics,
                      check, diff, distances, fit, hash, repair, stats, verify)
from ._codec import (TensorType, dequantize, measure_error, quantize, swap_byte_order, tensor_type,
                     tensor_types)
from ._core import version as __version__
from ._errors import (AccessError, ChatError, Error, FormatError, InputOutputError,
                      MissingFileError, Remark, UsageError)
from ._files import Conversion, DownloadedFile, Shard, convert, download, merge, split
from ._metadata import Elements, Metadata
from ._model import Field, Model, ModelFile, Tensor, Tensors, open
from ._quantizing import (ImportanceMatrix, PlannedTensor, QuantizePlan, Recipe, TensorError, imatrix,
                          plan_quantization, quantize_model, recipes)
from ._text import ChatTemplate, ChatTokens, Run, Tokenizer
from ._writer import Edit, EditPlan, Writer, edit
