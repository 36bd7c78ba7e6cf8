# SPDX-License-Identifier: MIT
"""The display of facts about models and tensors in notebooks. Everything from a file is escaped:
control and invisible characters as on a terminal, then the characters that mean something in
HTML."""
from __future__ import annotations

import html
import math
from typing import Any, Iterable, List, Optional, Sequence, Tuple

from . import _core

_CELL = 'style="text-align:left;vertical-align:top;padding:1px 12px 1px 0"'


def _safe(value: Any) -> str:
    return html.escape(_core.escape(str(value)))


def _rows(rows: List[Tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th {_CELL}>{name}</th><td {_CELL}>{value}</td></tr>"
                    for name, value in rows if value)
    return f"<table>{cells}</table>"


def _number(value: Any) -> str:
    """A number, or the lowest and the highest of all layers."""
    if isinstance(value, list):
        low, high = min(value), max(value)
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{value:,}"


def _listed(facts: dict[str, Any], names: List[Tuple[str, str]]) -> str:
    """Numbers that are known, each with its word: "{} layers"."""
    return ", ".join(words.format(_number(facts[key])) for words, key in names
                     if facts[key] is not None)


def model_html(facts: dict[str, Any], files: Iterable[Tuple[str, str, dict[str, Any]]],
               token_count: int, license: Any, notices: Iterable[Any]) -> str:
    """The facts of `ingot show`, as a table; of each file its path, its format and its numbers."""
    model = facts["model"]
    size = f"{_core.format_bytes(model['tensor_bytes'])}"
    if model["bits_per_weight"] is not None:
        size += f", {model['bits_per_weight']:.2f} bits per weight"
    title = _safe(model["name"] or "a model without a name")
    tokenizer = ", ".join(_safe(facts["tokenizer"][name]) for name in ("model", "pre")
                          if facts["tokenizer"][name])
    if token_count:
        tokenizer += f", {token_count:,} tokens"
    rows = [
        ("architecture", _safe(model["architecture"] or "")),
        ("parameters", f"{_core.format_count(model['parameters'])}, {size}"),
        ("shape", _listed(model, [("{} layers", "block_count"), ("{} wide", "embedding_length"),
                                  ("{} feed-forward", "feed_forward_length"),
                                  ("{} experts", "expert_count"), ("{} used", "expert_used_count")])),
        ("attention", _listed(model, [("{} heads", "head_count"), ("{} key-value heads", "head_count_kv")])),
        ("context", _listed(model, [("{} tokens", "context_length")])),
        ("types", _types(facts["types"])),
        ("label", _safe(model["file_type"] or "")),
        ("tokenizer", tokenizer),
        ("template", "yes" if facts["tokenizer"]["chat_template"] else ""),
        ("license", _safe(license)),
        ("file", "<br>".join(_file(*file) for file in files)),
        ("notices", "<br>".join(_safe(notice) for notice in notices)),
    ]
    return f"<div><b>{title}</b>{_rows(rows)}</div>"


def _types(shares: List[dict[str, Any]]) -> str:
    total = max(sum(share["bytes"] for share in shares), 1)
    return "<br>".join(
        f'<span style="display:inline-block;width:{150 * share["bytes"] // total}px;height:0.7em;'
        f'background:#4a7ab5"></span> {_safe(share["type"])}: {_core.format_bytes(share["bytes"])}, '
        f"{share['tensors']:,} tensors" for share in shares)


def _file(path: str, format: str, facts: dict[str, Any]) -> str:
    version = f" version {facts['version']}, {facts['endian']}-endian" if format == "gguf" else ""
    return (f"{_safe(path or 'in memory')}: {_safe(format)}{version}, {facts['metadata_count']:,} keys, "
            f"{facts['tensor_count']:,} tensors")


def tensor_html(name: str, type: str, shape: Sequence[int], nbytes: int,
                statistics: Optional[dict[str, Any]]) -> str:
    """Type, shape, range, and a histogram as SVG."""
    rows = [("type", _safe(type)), ("shape", " &times; ".join(f"{size:,}" for size in shape)),
            ("size", f"{math.prod(shape):,} elements, {_core.format_bytes(nbytes)}")]
    picture = ""
    if statistics is not None:
        if statistics["finite"]:
            rows.append(("range", "{min:.6g} to {max:.6g}".format(**statistics)))
            rows.append(("mean", "{mean:.6g}, deviation {std:.6g}".format(**statistics)))
        odd = [f"{statistics[key]:,} {word}" for key, word in
               (("zeros", "zeros"), ("nan", "NaN"), ("inf", "infinities")) if statistics[key]]
        rows.append(("of these", ", ".join(odd)))
        picture = histogram_svg(statistics["histogram"])
    return f"<div><b>{_safe(name)}</b>{_rows(rows)}{picture}</div>"


def histogram_svg(counts: List[int], width: int = 320, height: int = 60) -> str:
    """Bars of equal width, the highest as high as the picture; empty without counts."""
    if not counts or not max(counts):
        return ""
    bar = width / len(counts)
    bars = "".join(
        f'<rect x="{index * bar:.1f}" y="{height - height * count / max(counts):.1f}" '
        f'width="{bar:.1f}" height="{height * count / max(counts):.1f}"/>'
        for index, count in enumerate(counts) if count)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" fill="#4a7ab5">'
            f"<title>histogram of {sum(counts):,} numbers</title>{bars}</svg>")
