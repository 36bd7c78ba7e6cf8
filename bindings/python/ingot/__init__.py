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
from ._codec import (TensorType, dequantize, measure_error, quantize, swap_byte_order, tensor_type,
                     tensor_types)
from ._core import version as __version__
from ._errors import (AccessError, ChatError, Error, FormatError, InputOutputError,
                      MissingFileError, Remark, UsageError)
from ._model import Elements, Field, Metadata, Model, ModelFile, Tensor, Tensors, open
from ._text import ChatTemplate, ChatTokens, Run, Tokenizer
from ._work import (Conversion, Difference, Digests, Distance, DownloadedFile, Finding, ImportanceMatrix, Mismatch,
                    PlannedTensor, QuantizePlan, Recipe, Repair, RepairStep, Shard, Statistics,
                    TensorError, check, convert, diff, distances, download, fit, hash, imatrix, merge,
                    plan_quantization, quantize_model, recipes, repair, split, stats, verify)
from ._writer import Edit, EditPlan, Writer, edit
