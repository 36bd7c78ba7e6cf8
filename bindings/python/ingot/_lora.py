# SPDX-License-Identifier: MIT
"""LoRA adapters in GGUF."""
from __future__ import annotations

import os
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._errors import Path, about
from ._facts import as_rows, chosen, old_names, old_options, warn_of_old_name
from ._work import AnyModel, Progress, opened

__all__ = ["LoraAdapter", "LoraChange", "LoraMerge", "merge_lora", "read_lora"]


@old_names(factor="scale")
class LoraChange(NamedTuple):
    """The change of an adapter to one tensor of its base: it adds `scale` times the product of two
    halves of this rank. With rank 0 the tensor comes whole."""

    name: str
    rank: int
    scale: float
    rows: int
    columns: int
    type: str

    @property
    def shape(self) -> Tuple[int, int]:
        """The old name of `rows` and `columns`."""
        warn_of_old_name("shape", "rows, columns")
        return self.rows, self.columns


@old_names(is_invoked="needs_invocation", changes="tensors")
class LoraAdapter:
    """An adapter that has been checked, made by `ingot.read_lora`. Members are those of ``ingot lora
    info --json``, which docs/json.md explains."""

    architecture: str
    alpha: float
    needs_invocation: bool
    tensors: List[LoraChange]

    def __init__(self, core: _core.LoraAdapter) -> None:
        self._core = core
        facts = core.facts()
        self.__dict__.update(facts, tensors=as_rows(LoraChange, facts["tensors"]))

    def __repr__(self) -> str:
        return f"<ingot.LoraAdapter: {self.architecture}, {len(self.tensors)} tensors>"


def read_lora(source: AnyModel) -> LoraAdapter:
    """Read an adapter from a GGUF file.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes

    Raises
    ------
    ingot.FormatError
        ``adapter_invalid`` if it is none, or if halves are missing or do not fit together.
    """
    model = opened(source)
    with about(model.paths[0]):
        return LoraAdapter(_core.LoraAdapter(model._core))


class LoraMerge(NamedTuple):
    """The result of a merge: the names of the tensors that adapters change, and the size of the
    file."""

    changed: List[str]
    file_bytes: int


Adapters = Union[LoraAdapter, AnyModel]


@old_options(replace="force")
def merge_lora(source: AnyModel, adapters: Union[Adapters, Sequence[Adapters]], path: Path, *,
               scale: Union[float, Sequence[float]] = 1.0, type: Optional[str] = None,
               force: bool = False, dry_run: bool = False, threads: int = 0,
               progress: Progress = None) -> LoraMerge:
    """Merge LoRA adapters into a model: ``weight + scale * alpha / rank * (B @ A)``.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    adapters : LoraAdapter or what `ingot.open` takes, or list or tuple of these
    path : path
        The file to write. The bytes are the same for any number of threads.
    scale : float, or list or tuple of float
        How much of each adapter.
    type : str, optional
        Of the tensors that change. Default: as each is in the model.

    Raises
    ------
    ingot.UsageError
        ``adapter_mismatch`` if an adapter is for another model; ``weights_required`` for types that
        only an importance matrix makes.
    """
    model = opened(source)
    several = list(adapters) if isinstance(adapters, (list, tuple)) else [adapters]
    cores = [(one if isinstance(one, LoraAdapter) else read_lora(one))._core for one in several]
    scales = list(scale) if isinstance(scale, (list, tuple)) else [scale] * len(cores)
    with about(path):
        return LoraMerge(*_core.merge_lora(model._core, cores, scales, os.fspath(path),
                                           chosen("merge_lora", locals()), force, dry_run, progress))
