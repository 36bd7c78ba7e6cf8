# SPDX-License-Identifier: MIT
"""What notebooks show."""
import html.parser

import numpy

import ingot


class Outline(html.parser.HTMLParser):
    """The text, and whether every element that begins also ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.names = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in ("br", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == "rect" or self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_model_is_shown(model):
    outline = Outline(model._repr_html_())
    assert not outline.open
    for text in ("A small model", "llama", "1 layers", "512 wide", "Q8_0", "99 tokens", "version 3"):
        assert text in outline.text


def test_what_a_file_says_is_escaped(tmp_path):
    path = tmp_path / "a.gguf"
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "<script>alert(1)</script>"
        writer["general.name"] = "\x1b[31m<b>\u202e&"
        writer.add_tensor("<img src=x>", numpy.zeros((1, 4), numpy.float32))
    with ingot.open(path) as model:
        for shown in (model._repr_html_(), model.tensors["<img src=x>"]._repr_html_()):
            outline = Outline(shown)
            assert not {"script", "img"} & set(outline.names)
            assert "\x1b" not in shown and "\u202e" not in shown


def test_a_tensor_is_shown_with_its_histogram(model):
    outline = Outline(model.tensors["token_embd.weight"]._repr_html_())
    assert outline.names.count("svg") == 1 and 20 < outline.names.count("rect") <= 64
    assert "4,096 elements" in outline.text and "histogram of 4,096 numbers" in outline.text
    assert ingot._html.histogram_svg([]) == ""


def test_every_result_is_short_and_has_a_table(model, model_path):
    kinds = [value for value in vars(ingot).values() if hasattr(value, "_fields")]
    assert len(kinds) > 25
    for kind in kinds:
        row = kind(*(list(range(1000)) for _ in kind._fields))
        assert repr(row).startswith(f"{kind.__name__}(") and len(repr(row)) < 60 * len(kind._fields)
        assert not Outline(row._repr_html_()).open
    difference = ingot.diff(model, model)
    assert "same=yes" in repr(difference) and "yes" in Outline(difference._repr_html_()).text


def test_lists_of_results_are_tables(model_path):
    tensors = ingot.stats(model_path)
    lines = repr(tensors).splitlines()
    assert lines[0].split()[:3] == ["name", "finite", "zeros"] and lines[1].startswith("token_embd.weight")
    types = Outline(ingot.recipes()._repr_html_())
    assert types.names.count("tr") == len(ingot.recipes()) + 1 and not types.open
    many = ingot.metadata_keys()
    assert "more ..." in repr(many) and len(repr(many).splitlines()) < 50 and len(repr(many[:2]).splitlines()) == 3
    assert repr(ingot._display.Rows()) == "[]" and many == list(many)


def test_facts_are_lines(model_path):
    fit = ingot.fit(model_path, device="24G")
    assert "verdict" in repr(fit) and "advice.gpu_layers" in repr(fit)
    assert "advice.gpu_layers" in Outline(fit._repr_html_()).text
