# SPDX-License-Identifier: MIT
"""The page that gguf_dump.py --markdown prints, asked of the classes of ingot.gguf as it asks them."""
import re

import ingot.gguf as gguf

# What the page calls the parts of names.
WORDS = {
    "token_embd": "Token Embedding", "output_norm": "Output Normalization", "output": "Output",
    "attn_norm": "Attention Normalization", "attn_q": "Attention Query", "attn_k": "Attention Key",
    "attn_v": "Attention Value", "attn_output": "Attention Output",
    "ffn_norm": "Feed-Forward Network Normalization", "ffn_up": 'Feed-Forward Network "Up"',
    "ffn_gate": 'Feed-Forward Network "Gate"', "ffn_down": 'Feed-Forward Network "Down"',
    "blk": "Block",
}


def table(heads, rows):
    """`heads` are (name, ">" or "<")."""
    texts = [[name for name, _ in heads], *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts)]
    lines = ["|".join(f" {text:{side}{width}} " for text, (_, side), width in zip(row, heads, widths))
             for row in texts]
    rule = "|".join("-" * (width + 1) + ":" if side == ">" else ":" + "-" * (width + 1)
                    for (_, side), width in zip(heads, widths))
    return [f"|{line}|" for line in [lines[0], rule, *lines[1:]]]


def code(text):
    marker = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{marker} {text} {marker}" if "`" in (text[:1], text[-1:]) else marker + text + marker


def shortened(text, most):
    return code(text) if len(text) <= most else f"{code(text[:most // 2])}...{code(text[-most // 2:])}"


def value_of(field):
    count = len(field.data)
    if field.types == [gguf.GGUFValueType.STRING]:
        return shortened(str(bytes(field.parts[-1]), encoding="utf-8"), 60)
    if field.types[0] != gguf.GGUFValueType.ARRAY:
        return str(field.parts[-1][0])
    if field.types[1] == gguf.GGUFValueType.STRING:
        shown = [shortened(str(bytes(field.parts[-1 - (count - place - 1) * 2]), encoding="utf-8"), 30)
                 for place in range(min(5, count))]
    else:
        shown = [str(field.parts[-1 - (count - place - 1)][0]) for place in range(min(7, count))]
    return f"[ {', '.join(shown).strip()}{', ...' if count > len(shown) else ''} ]"


def rounded(count):
    for power, letter in ((15, "Q"), (12, "T"), (9, "B"), (6, "M"), (3, "K")):
        if count > 10 ** power:
            return f"~{round(count / 10 ** power)}{letter}"
    return str(count)


def human(name):
    return " ".join(WORDS.get(word, word.title()) for word in name.split("."))


def group_lines(group, tensors, numbers, whole):
    elements = sum(tensor.n_elements for tensor in tensors)
    sizes = [[str(size) for size in [*tensor.shape, 1, 1, 1][:4]] for tensor in tensors]
    widths = [max(map(len, column)) for column in zip(*sizes)]
    short = max(len(rounded(tensor.n_elements)) for tensor in tensors)
    long = max(len(str(tensor.n_elements)) for tensor in tensors)
    rows = [(numbers[tensor.name], tensor.name,
             human(tensor.name.replace(".weight", ".(W)").replace(".bias", ".(B)")),
             f"({rounded(tensor.n_elements):>{short}}) {tensor.n_elements:>{long}}",
             " x ".join(text.rjust(width) for text, width in zip(size, widths)), tensor.tensor_type.name)
            for tensor, size in zip(tensors, sizes)]
    yield f'### <a name="{group.replace(".", "_")}">{human(group)} Tensor Group : {rounded(elements)} Elements</a>'
    yield ""
    yield from table([("T_ID", ">"), ("Tensor Layer Name", "<"), ("Human Friendly Tensor Layer Name", "<"),
                      ("Elements", "<"), ("Shape", "<"), ("Type", "<")], rows)
    yield from ("", f"- Total elements in {group}: ({rounded(elements):>4}) {elements}",
                f"- Percentage of total elements: {elements / whole * 100:.2f}%", "", "")


def page(reader, name):
    yield from (f"# {name} - GGUF Internal File Dump", "", f"- Endian: {reader.endianess.name} endian", "",
                "## Key Value Metadata Store", "",
                f"There are {len(reader.fields)} key-value pairs in this file", "")
    rows = []
    for number, field in enumerate(reader.fields.values(), 1):
        nested = len(field.types) - 1 if field.types[0] == gguf.GGUFValueType.ARRAY else 0
        kind = "[" * nested + field.types[-1].name + "]" * nested
        rows.append((number, kind, len(field.data), field.name, value_of(field)))
    yield from table([("POS", ">"), ("TYPE", "<"), ("Count", ">"), ("Key", "<"), ("Value", "<")], rows)
    groups = {}
    for tensor in reader.tensors:
        parts = tensor.name.split(".")
        groups.setdefault(".".join(parts[:2]) if parts[0] == "blk" else "base", []).append(tensor)
    whole = sum(tensor.n_elements for tensor in reader.tensors)
    yield from ("", f"## Tensors Overview {rounded(whole)} Elements", "",
                f"Total number of elements in all tensors: {whole} Elements", "")
    for group, tensors in groups.items():
        elements = rounded(sum(tensor.n_elements for tensor in tensors))
        yield f"- [{human(group)} Tensor Group - {elements} Elements](#{group.replace('.', '_')})"
    yield from ("", "### Tensor Data Offset", "",
                "This table contains the offset and data segment relative to start of file", "")
    yield from table([("T_ID", ">"), ("Tensor Layer Name", "<"), ("Data Offset (B)", ">"),
                      ("Data Size (B)", ">")],
                     [(number, tensor.name, f"{tensor.data_offset:#16x}", f"{tensor.n_bytes:#16x}")
                      for number, tensor in enumerate(reader.tensors)])
    yield ""
    numbers = {tensor.name: number for number, tensor in enumerate(reader.tensors)}
    for group, tensors in groups.items():
        yield from group_lines(group, tensors, numbers, whole)
    yield ""
