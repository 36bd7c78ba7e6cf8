# SPDX-License-Identifier: MIT
"""Names that are nearly right."""
from __future__ import annotations

import difflib
from typing import Iterable, Optional

__all__ = ["UnknownName"]

_MOST_NAMES = 10_000  # More would take longer than a user waits for a hint.


def nearest(name: str, names: Iterable[str], cutoff: float = 0.8) -> Optional[str]:
    """The name that is most like another, if one is."""
    known = [other for other, _ in zip(names, range(_MOST_NAMES))]
    found = difflib.get_close_matches(name, known, 1, cutoff)
    return found[0] if found else None


def hint(name: str, names: Iterable[str]) -> str:
    """``; did you mean 'x'?`` with the nearest of names, whatever their case, or nothing."""
    known = {other.lower(): other for other in names}
    near = nearest(name.lower(), known)
    return "" if near is None else f"; did you mean {known[near]!r}?"


class UnknownName(KeyError):
    """A name that is not there. Its text has the nearest that is, which is looked for when the text is
    asked for, as most such errors are caught and forgotten."""

    def __init__(self, name: object, names: Iterable[str]) -> None:
        super().__init__(name)
        self._names = names

    def __str__(self) -> str:
        text = super().__str__()
        try:
            near = nearest(str(self.args[0]), self._names)
        except ValueError:  # the model is closed
            return text
        return text if near is None else f"{text}; did you mean {near!r}?"
