# SPDX-License-Identifier: MIT
"""What notebooks show of models and tensors. Everything that a file says is escaped: control and
invisible characters as on a terminal, then the characters that mean something in HTML."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterator, List, Tuple

from . import _core

if TYPE_CHECKING:
    from ._model import Model
    from ._tensor import Tensor

_CELL = 'style="text-align:left;vertical-align:top;padding:1px 12px 1px 0"'


def _safe(value: Any) -> str:
    return html.escape(_core.escape(str(value)))


def _rows(rows: List[Tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th {_CELL}>{name}</th><td {_CELL}>{value}</td></tr>"
                    for name, value in rows if value)
    return f"<table>{cells}</table>"


def _number(value: Any) -> str:
    """A number, or the lowest and the highest of all layers."""
    if isinstance(value, tuple):
        return f"{value[0]:,} to {value[1]:,}"
    return f"{value:,}"


def _listed(facts: dict[str, Any], names: List[Tuple[str, str]]) -> str:
    return ", ".join(f"{word} {_number(facts[key])}" for word, key in names
                     if facts[key] is not None)


def model_html(model: Model) -> str:
    """The facts of `ingot show`, as a table."""
    facts = model.summary()
    size = f"{_core.format_bytes(facts['tensor_bytes'])}"
    if facts["bits_per_weight"] is not None:
        size += f", {facts['bits_per_weight']:.2f} bits per weight"
    title = _safe(facts["name"] or "a model without a name")
    tokenizer = ", ".join(_safe(one) for one in (facts["tokenizer_model"], facts["tokenizer_pre"]) if one)
    if "tokenizer.ggml.tokens" in model.metadata:
        tokenizer += f", {len(model.metadata['tokenizer.ggml.tokens']):,} tokens"
    rows = [
        ("architecture", _safe(facts["architecture"] or "")),
        ("parameters", f"{_core.format_count(facts['parameter_count'])}, {size}"),
        ("shape", _listed(facts, [("layers", "block_count"), ("width", "embedding_length"),
                                  ("feed-forward", "feed_forward_length"),
                                  ("experts", "expert_count"), ("used", "expert_used_count")])),
        ("attention", _listed(facts, [("heads", "head_count"), ("key-value heads", "head_count_kv")])),
        ("context", _listed(facts, [("tokens", "context_length")])),
        ("types", _types(facts)),
        ("label", _safe(facts["file_type"] or "")),
        ("tokenizer", tokenizer),
        ("template", "yes" if facts["has_chat_template"] else ""),
        ("license", _safe(model.metadata.get("general.license", ""))),
        ("file", "<br>".join(_files(model))),
        ("notices", "<br>".join(_safe(notice) for notice in model.notices)),
    ]
    return f"<div><b>{title}</b>{_rows(rows)}</div>"


def _types(facts: dict[str, Any]) -> str:
    total = max(facts["tensor_bytes"], 1)
    return "<br>".join(
        f'<span style="display:inline-block;width:{150 * share[2] // total}px;height:0.7em;'
        f'background:#4a7ab5"></span> {_safe(name)}: {_core.format_bytes(share[2])}, '
        f"{share[0]:,} tensors" for name, share in facts["types"].items())


def _files(model: Model) -> Iterator[str]:
    for file in model.files:
        yield (f"{_safe(file.path or 'in memory')}: {_safe(model.format)}"
               + (f" version {file.version}, {file.byte_order}-endian" if model.format == "gguf" else "")
               + f", {file.key_count:,} keys, {file.tensor_count:,} tensors")


def tensor_html(tensor: Tensor) -> str:
    """Type, shape, range, and a histogram as SVG."""
    rows = [("type", _safe(tensor.type)), ("shape", " &times; ".join(f"{size:,}" for size in tensor.shape)),
            ("size", f"{tensor.size:,} elements, {_core.format_bytes(tensor.nbytes)}")]
    picture = ""
    if tensor.type in {row[0] for row in _core.tensor_types} and tensor.size:
        row = _core.stats(tensor._core, [tensor._index], 64, None, 0, None)[0]
        finite, zeros, nans, infinities, low, high, mean, deviation, _, _, counts, _ = row
        rows.append(("range", f"{low:.6g} to {high:.6g}" if finite else ""))
        rows.append(("mean", f"{mean:.6g}, deviation {deviation:.6g}" if finite else ""))
        odd = [f"{count:,} {name}" for count, name in
               ((zeros, "zeros"), (nans, "NaN"), (infinities, "infinities")) if count]
        rows.append(("of these", ", ".join(odd)))
        picture = histogram_svg(counts)
    return f"<div><b>{_safe(tensor.name)}</b>{_rows(rows)}{picture}</div>"


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
