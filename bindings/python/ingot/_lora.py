# SPDX-License-Identifier: MIT
"""LoRA adapters in GGUF."""
from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._errors import Path, about
from ._work import AnyModel, Progress, opened

__all__ = ["LoraAdapter", "LoraChange", "LoraMerge", "merge_lora", "read_lora"]


class LoraChange(NamedTuple):
    """The change of an adapter to one tensor of its base, of shape (rows, columns): it adds
    `factor` times the product of two halves of this rank. With rank 0 the tensor comes whole."""

    name: str
    shape: Tuple[int, int]
    rank: int
    factor: float


class LoraAdapter:
    """An adapter that has been checked, made by `ingot.read_lora`.

    Attributes
    ----------
    architecture : str
        Of the base.
    alpha : float
        0: products are not scaled by it.
    is_invoked : bool
        It counts only behind certain tokens (aLoRA), and cannot be merged.
    changes : list of LoraChange
    """

    def __init__(self, core: _core.LoraAdapter) -> None:
        self._core = core
        self.architecture = core.architecture()
        self.alpha = core.alpha()
        self.is_invoked = core.is_invoked()
        self.changes = [LoraChange(*row) for row in core.changes()]

    def __repr__(self) -> str:
        return f"<ingot.LoraAdapter: {self.architecture}, {len(self.changes)} tensors>"


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


def merge_lora(source: AnyModel, adapters: Union[Adapters, Sequence[Adapters]], path: Path, *,
               scale: Union[float, Sequence[float]] = 1.0, type: Optional[str] = None,
               replace: bool = False, dry_run: bool = False, threads: int = 0,
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
    chosen = list(adapters) if isinstance(adapters, (list, tuple)) else [adapters]
    cores = [(one if isinstance(one, LoraAdapter) else read_lora(one))._core for one in chosen]
    scales = list(scale) if isinstance(scale, (list, tuple)) else [scale] * len(cores)
    options: Dict[str, Any] = {"threads": threads, "type": type}
    with about(path):
        return LoraMerge(*_core.merge_lora(model._core, cores, scales, os.fspath(path), options,
                                           replace, dry_run, progress))
