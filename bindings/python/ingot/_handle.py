# SPDX-License-Identifier: MIT
"""The handle that a model shares with its parts."""
from __future__ import annotations

from typing import Optional

from . import _core

__all__ = ["Handle"]


class Handle:
    """An open model, until it is closed."""

    __slots__ = ("_open",)

    def __init__(self, core: _core.OpenModel) -> None:
        self._open: Optional[_core.OpenModel] = core

    @property
    def core(self) -> _core.OpenModel:
        if self._open is None:
            raise ValueError("the model is closed")
        return self._open

    @property
    def closed(self) -> bool:
        return self._open is None

    def close(self) -> None:
        self._open = None
