# SPDX-License-Identifier: MIT
"""Facts and options by name, as dicts."""
from __future__ import annotations

import functools
import warnings
from keyword import iskeyword
from typing import Any, Callable, Dict, Iterable, List, Mapping, Tuple, Type, TypeVar, cast

from . import _core
from ._display import Rows, facts_html, facts_text

__all__ = ["Facts", "as_row", "as_rows", "chosen", "in_numpy_order", "old_names", "old_options",
           "warn_of_old_name"]

Kind = TypeVar("Kind", bound=type)
Row = TypeVar("Row")
Function = TypeVar("Function", bound=Callable[..., Any])


def warn_of_old_name(old: str, new: str) -> None:
    """Warns the caller of the caller."""
    warnings.warn(f"{old} is called {new} now", DeprecationWarning, stacklevel=3)


def as_row(kind: Type[Row], facts: Mapping[str, Any]) -> Row:
    """The named tuple of a kind, which has all members of the facts, but for those that are methods of
    the kind. A name that Python reserves has an underscore behind it: `from_`."""
    return as_rows(kind, [facts])[0]


def as_rows(kind: Type[Row], rows: Iterable[Mapping[str, Any]]) -> List[Row]:
    methods = set(dir(kind)) - set(getattr(kind, "_fields"))
    return Rows(kind(**{name + "_" if iskeyword(name) else name: value for name, value in row.items()
                        if name not in methods}) for row in rows)


def in_numpy_order(rows: Iterable[Any]) -> List[Any]:
    """Named tuples whose `shape` has the fastest-varying dimension last."""
    return Rows(row._replace(shape=tuple(reversed(row.shape))) for row in rows)


def chosen(function: str, values: Mapping[str, Any]) -> Dict[str, Any]:
    """The options that a function of the core has, from the local variables of its caller, which has
    parameters of the same names."""
    return {name: values[name] for name in _core.option_names[function]}


def old_names(**new_names: str) -> Callable[[Kind], Kind]:
    """Lets objects of a class have members by the names of an earlier version, too, with a
    DeprecationWarning."""
    def add(kind: Kind) -> Kind:
        for old, new in new_names.items():
            def find(one: Any, old: str = old, new: str = new) -> Any:
                warn_of_old_name(old, new)
                return getattr(one, new)
            setattr(kind, old, property(find, doc=f"The old name of `{new}`."))
        return kind
    return add


def old_options(**new_names: str) -> Callable[[Function], Function]:
    """Lets a function take options by the names of an earlier version, too, with a DeprecationWarning."""
    def add(function: Function) -> Function:
        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            for old in [name for name in options if name in new_names]:
                new = new_names[old]
                if new in options:
                    raise TypeError(f"{old} is the old name of {new}: give one of them")
                warn_of_old_name(old, new)
                options[new] = options.pop(old)
            return function(*arguments, **options)
        call.__dict__["old_options"] = new_names
        return cast(Function, call)
    return add


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

    def __repr__(self) -> str:
        return facts_text(self)

    def _repr_html_(self) -> str:
        return facts_html(self)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name in self._old_names else default
