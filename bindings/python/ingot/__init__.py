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
from ._files import (Conversion, DownloadedFile, RemoteFile, Shard, convert, download, ls, merge,
                     split)
from ._metadata import Elements, Metadata
from ._model import Field, Model, ModelFile, Tensor, Tensors, open
from ._quantizing import (ImportanceMatrix, PlannedTensor, QuantizePlan, TensorError, imatrix,
                          plan_quantization, quantize_model)
from ._tables import (CheckRule, DeviceModel, MetadataKey, Recipe, ShardName, check_rules,
                      device_models, digest_algorithms, file_formats, identify_content,
                      metadata_keys, parse_shard_name, recipes, shard_file_name)
from ._text import ChatTemplate, ChatTokens, Run, Tokenizer
from ._writer import Edit, EditPlan, Writer, edit

# Users know the names that are here, not the files that they come from.
for _value in list(vars().values()):
    if getattr(_value, "__module__", "").startswith("ingot._"):
        _value.__module__ = "ingot"
del _value
