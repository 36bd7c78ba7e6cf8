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
    for text in ("A small model", "llama", "layers 1", "width 512", "Q8_0", "99 tokens", "version 3"):
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
