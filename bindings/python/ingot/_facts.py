# SPDX-License-Identifier: MIT
"""Facts by name, as dicts."""
from __future__ import annotations

import warnings
from typing import Any, Dict, Mapping, Tuple

__all__ = ["Facts", "as_row", "warn_of_old_name"]


def warn_of_old_name(old: str, new: str) -> None:
    """Warns the caller of the caller."""
    warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=3)


def as_row(kind: Any, facts: Mapping[str, Any]) -> Any:
    """The named tuple of a kind, from facts that have its members, and maybe more."""
    return kind(**{name: facts[name] for name in kind._fields})


class Facts(Dict[str, Any]):
    """Facts by the names that the program's JSON has (docs/json.md).

    Names that an earlier version had still find their value, with a DeprecationWarning.
    """

    def __init__(self, facts: Mapping[str, Any], old_names: Mapping[str, Tuple[str, ...]]) -> None:
        super().__init__(facts)
        self._old_names = old_names

    def __missing__(self, name: str) -> Any:
        value: Any = self
        for part in self._old_names[name]:
            value = value[part]
        warn_of_old_name(f"[{name!r}]", "".join(f"[{part!r}]" for part in self._old_names[name]))
        return value

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name in self._old_names else default
