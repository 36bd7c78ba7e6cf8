# SPDX-License-Identifier: MIT
"""Results as tables: short ones for terminals, and HTML for notebooks. What a file says is escaped."""
from __future__ import annotations

import html
import numbers
import shutil
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Tuple, Type, TypeVar

from . import _core

__all__ = ["NamedRows", "Rows", "facts_html", "facts_text", "show_results"]

Row = TypeVar("Row")

_MOST_ROWS = 40  # Of a longer table the first and the last are shown.
_MOST_LETTERS = 48  # Of a cell.


def _cell(value: Any) -> str:
    """A value in one line: what holds many others is counted."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    if isinstance(value, str):
        text = str(_core.escape(value))
        return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS // 3]}...{text[3 - 2 * _MOST_LETTERS // 3:]}"
    if hasattr(value, "_fields") or not isinstance(value, (list, tuple, dict)) or not value:
        text = repr(value)
        return text if len(text) <= _MOST_LETTERS else f"<{type(value).__name__}>"
    plain = isinstance(value, (list, tuple)) and not any(isinstance(one, (list, tuple, dict)) for one in value)
    text = ", ".join(_cell(one) for one in value) if plain and len(value) <= 4 else ""
    return text if text and len(text) <= _MOST_LETTERS else f"<{len(value):,}>"


def _cells(rows: Sequence[Any], names: Sequence[str]) -> Tuple[List[str], List[List[str]], int]:
    """The columns in which any row has something, the cells, and how many rows are left out."""
    shown, left_out = list(rows), 0
    if len(shown) > _MOST_ROWS:
        left_out = len(shown) - _MOST_ROWS
        shown = shown[:_MOST_ROWS // 2] + shown[-_MOST_ROWS // 2:]
    columns = [name for name in names if any(getattr(row, name) not in (None, "") for row in rows)]
    return columns, [[_cell(getattr(row, name)) for name in columns] for row in shown], left_out


def _aligned(columns: List[str], cells: List[List[str]], left_out: int) -> str:
    """Lines of columns as wide as the terminal allows; the last ones are left out first."""
    widths = [max(len(row[i]) for row in [columns, *cells]) for i in range(len(columns))]
    room = max(shutil.get_terminal_size((100, 24)).columns, 60)
    count = len(widths)
    while count > 1 and sum(widths[:count]) + 2 * (count - 1) > room:
        count -= 1
    lines = ["  ".join(text.ljust(width) for text, width in zip(row[:count], widths)).rstrip()
             for row in [columns, *cells]]
    if left_out:
        lines.insert(1 + _MOST_ROWS // 2, f"... {left_out:,} more ...")
    return "\n".join(lines)


def _table_html(columns: List[str], cells: List[List[str]], left_out: int) -> str:
    def line(tag: str, texts: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"
    lines = [line("td", row) for row in cells]
    if left_out:
        lines.insert(_MOST_ROWS // 2, f'<tr><td colspan="{len(columns)}">{left_out:,} more</td></tr>')
    return f"<table>{line('th', columns)}{''.join(lines)}</table>"


class Rows(List[Row]):
    """A list of results that prints as a table."""

    def _table(self) -> Tuple[List[str], List[List[str]], int]:
        return _cells(self, self[0]._fields)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Rows(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return _aligned(*self._table()) if self else "[]"

    def _repr_html_(self) -> str:
        return _table_html(*self._table()) if self else "[]"


class NamedRows(Dict[str, Row]):
    """A dict of results that prints as a table."""

    def _table(self) -> Tuple[List[str], List[List[str]], int]:
        rows = list(self.values())
        columns, cells, left_out = _cells(rows, rows[0]._fields)  # type: ignore[attr-defined]
        names = [_cell(name) for name in self]
        if left_out:
            names = names[:_MOST_ROWS // 2] + names[-_MOST_ROWS // 2:]
        return ["name", *columns], [[name, *row] for name, row in zip(names, cells)], left_out

    def __repr__(self) -> str:
        return _aligned(*self._table()) if self else "{}"

    def _repr_html_(self) -> str:
        return _table_html(*self._table()) if self else "{}"


def _flat(facts: Mapping[str, Any], before: str = "") -> List[List[str]]:
    lines = []
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            lines += _flat(value, f"{before}{name}.")
        elif value is not None:
            lines.append([before + _cell(name), _cell(value)])
    return lines


def facts_text(facts: Mapping[str, Any]) -> str:
    """Facts, a line each, those of dicts in them as ``NAME.NAME``."""
    lines = _flat(facts)
    width = max((len(name) for name, _ in lines), default=0)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in lines)


def facts_html(facts: Mapping[str, Any]) -> str:
    return _table_html(["", ""], _flat(facts), 0)


def show_results(kind: Type[Any]) -> None:
    """Lets the named tuples of a kind print in a line, and as a table in notebooks."""
    def text(row: Any) -> str:
        members = ", ".join(f"{name}={_cell(value)}" for name, value in row._asdict().items()
                            if value is not None)
        return f"{kind.__name__}({members})"
    setattr(kind, "__repr__", text)
    kind._repr_html_ = lambda row: facts_html(row._asdict())
