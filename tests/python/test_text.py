# SPDX-License-Identifier: MIT
"""Tokenizers and chat templates."""
import json

import numpy
import pytest
from hypothesis import given, strategies

import ingot


@pytest.fixture(scope="module")
def tokenizer(model_path):
    return ingot.Tokenizer(model_path)


def test_texts_become_ids_and_come_back(tokenizer):
    ids = tokenizer.encode("abc ab")
    assert ids.dtype == numpy.int32 and tokenizer.text(ids[0]) == "ab"
    assert tokenizer.decode(ids) == "abc ab" and tokenizer.decode(ids.tolist()) == "abc ab"
    assert tokenizer.family == "BPE" and len(tokenizer) == 99
    assert tokenizer.find("ab") == ids[0] and tokenizer.find("zzz") is None
    with pytest.raises(ingot.UsageError) as caught:
        tokenizer.decode([10 ** 6])
    assert caught.value.code == "index_out_of_range"


@given(text=strategies.text(strategies.characters(min_codepoint=33, max_codepoint=126)))
def test_every_printable_text_comes_back(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_control_tokens_are_found_on_demand(tokenizer):
    end = tokenizer.find("<|end|>")
    assert tokenizer.kind(end) == "control" and end in tokenizer.end_of_generation
    assert end not in tokenizer.encode("<|end|>")
    assert tokenizer.encode("<|end|>", parse_special=True).tolist() == [end]
    assert tokenizer.special_tokens["eos"] == end


def test_statistics_count_all_tokens(tokenizer):
    statistics = tokenizer.statistics()
    assert statistics["tokens"] == sum(statistics["types"].values()) == len(tokenizer)
    assert statistics["special_tokens"] == tokenizer.special_tokens
    assert len(tokenizer.text(statistics["longest"])) == max(
        len(tokenizer.text(id)) for id in range(len(tokenizer)))


def test_offsets_and_batches(tokenizer):
    ids, ranges = tokenizer.encode_with_offsets("abc")
    assert ids.tolist() == tokenizer.encode("abc").tolist() and ranges.tolist() == [[0, 2], [2, 3]]
    batch = tokenizer.encode_batch(["abc", "", "ab"] * 50)
    assert [one.tolist() for one in batch[:3]] == [ids.tolist(), [], [ids[0]]]


def test_the_files_of_other_libraries(model_path, tokenizer, tmp_path):
    warnings = ingot.export_tokenizer(model_path, tmp_path / "out")
    assert any("no token stands for" in warning for warning in warnings)
    document = json.loads((tmp_path / "out" / "tokenizer.json").read_text(encoding="utf-8"))
    assert document["model"]["vocab"]["ab"] == tokenizer.find("ab")
    with pytest.raises(ingot.Error) as caught:
        ingot.export_tokenizer(model_path, tmp_path / "out")
    assert caught.value.code == "already_exists"
    ingot.export_tokenizer(model_path, tmp_path / "out", force=True)


def test_a_stream_of_ids(tokenizer):
    stream = tokenizer.stream()
    text = "".join(stream.push(int(id)) for id in tokenizer.encode("abc ab")) + stream.finish()
    assert text == "abc ab"


MESSAGES = [{"role": "user", "content": "Hi <|end|>"}]


def test_a_template_renders(model_path):
    template = ingot.ChatTemplate(model_path)
    text = "<|user|>Hi <|end|><|end|><|assistant|>"
    assert template.render(MESSAGES) == text
    assert template.render(MESSAGES, add_generation_prompt=False) == text[:-13]
    same, runs = template.render_runs(MESSAGES)
    assert same == text and sum(run.nbytes for run in runs) == len(text)
    assert [text[run.offset:][:run.nbytes] for run in runs if run.is_input] == ["user", "Hi <|end|>"]
    assert "messages" in template.variables
    assert template.source == ingot.open(model_path).metadata["tokenizer.chat_template"]
    assert ingot.ChatTemplate.names(model_path) == [""]
    assert template.format == "Phi 4 Mini"
    assert ingot.ChatTemplate(text="{{ messages | length }}").format is None
    with ingot.open(model_path) as model:
        assert model.chat_template.render(MESSAGES) == text and model.chat_template is model.chat_template


def test_a_message_makes_no_control_token(model_path, tokenizer):
    template = ingot.ChatTemplate(model_path)
    end = tokenizer.find("<|end|>")
    assert template.encode(tokenizer, MESSAGES).ids.tolist().count(end) == 1
    assert template.encode(tokenizer, MESSAGES, inputs="trusted").ids.tolist().count(end) == 2


def test_variables_of_every_kind():
    template = ingot.ChatTemplate(text="{{ a }}|{{ b[1] }}|{{ c.d }}|{{ e }}|{{ f }}|{{ g is none }}")
    text = template.render([], a=True, b=(1, 2), c={"d": "x"}, e=1.5, f=2 ** 70, g=None)
    assert text == f"True|2|x|1.5|{2 ** 70}|True"
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError):
        template.render([], a=endless)


def test_errors_have_a_place(model_path):
    with pytest.raises(ingot.ChatError) as caught:
        ingot.ChatTemplate(text="a\n{% if %}")
    assert caught.value.code == "chat_syntax" and caught.value.line == 2
    assert "chat template, line 2, column" in str(caught.value)
    with pytest.raises(ingot.ChatError) as caught:
        ingot.ChatTemplate(text="{{ raise_exception('No!') }}").render([])
    assert caught.value.code == "chat_raised" and caught.value.reason == caught.value.detail == "No!"
    with pytest.raises(ingot.ChatError) as caught:
        ingot.ChatTemplate(model_path, name="tools")
    assert caught.value.code == "chat_missing"
