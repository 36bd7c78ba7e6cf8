# SPDX-License-Identifier: MIT
"""The common part of all work on whole models. It takes a path or an open model, reports to a
`progress` callable, ten times a second with the bytes done, and stops when that raises or the user
presses Ctrl-C: then no file is left."""
from __future__ import annotations

import os
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, Union

from . import _core
from ._errors import Path as Path
from ._facts import as_rows, old_names
from ._model import Model, Source, open as open_model

Progress = Optional[Callable[[int], Any]]
AnyModel = Union[Model, Source]


def opened(source: AnyModel) -> Model:
    """The model itself, or one that is opened for the call."""
    return source if isinstance(source, Model) else open_model(source)


@old_names(path="file", tensor_count="tensors", file_bytes="bytes")
class Shard(NamedTuple):
    """A file of a set."""

    file: str
    first_tensor: int
    tensors: int
    bytes: int


def plan_shards(core: _core.OpenModel, prefix: str, max_bytes: int, shards: int) -> List[Shard]:
    """The files into which a model would be split."""
    rows = _core.split(core, prefix, max_bytes, 0, shards, False, False, True, None)
    return as_rows(Shard, rows)


def words(names: Union[str, Iterable[str]]) -> List[str]:
    """A list of names; a single one may come as it is."""
    return [names] if isinstance(names, str) else list(names)
