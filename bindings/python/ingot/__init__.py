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
try:
    from . import _core
except ImportError as error:
    raise ImportError("the compiled module of the package is not in this folder, or is for another Python: install "
                      "the package with pip, or build all of the preset release (scripts/test)") from error
from ._checks import *
from ._codec import *
from ._display import show_results as _show_results
from ._errors import *
from ._evaluating import *
from ._files import *
from ._importing import *
from ._listing import *
from ._lora import *
from ._metadata import *
from ._model import *
from ._names import *
from ._quantizing import *
from ._remote import *
from ._tables import *
from ._tensor import *
from ._text import *
from ._writer import *

__version__: str = _core.version

# Users know the names that are here, not the files that they come from.
for _value in list(vars().values()):
    if getattr(_value, "__module__", "").startswith("ingot._"):
        _value.__module__ = "ingot"
        if hasattr(_value, "_fields"):
            _show_results(_value)
del _value
