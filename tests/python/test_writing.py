# SPDX-License-Identifier: MIT
"""Writing and editing models."""
import numpy
import pytest
from hypothesis import given, settings, strategies

import ingot

SCALARS = strategies.one_of(
    strategies.booleans(), strategies.integers(-2 ** 63, 2 ** 64 - 1), strategies.text(max_size=40),
    strategies.floats(width=32, allow_nan=False))
LISTS = strategies.one_of(
    strategies.lists(strategies.booleans(), min_size=1, max_size=9),
    strategies.lists(strategies.integers(-2 ** 31, 2 ** 31 - 1), min_size=1, max_size=9),
    strategies.lists(strategies.text(max_size=9), min_size=1, max_size=9),
    strategies.lists(strategies.floats(width=32, allow_nan=False), min_size=1, max_size=9),
    strategies.lists(strategies.lists(strategies.text(max_size=3), min_size=1, max_size=3),
                     min_size=1, max_size=3))
KEYS = strategies.from_regex(r"\A[a-z]{1,8}\.[a-z]{1,8}\Z").filter(
    lambda key: not key.startswith(("general.", "split.", "ingot.")))


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


@settings(max_examples=60)
@given(keys=strategies.dictionaries(KEYS, strategies.one_of(SCALARS, LISTS), max_size=8))
def test_any_metadata_comes_back(tmp_path_factory, keys):
    path = tmp_path_factory.mktemp("any") / "a.gguf"
    with ingot.Writer(path) as writer:
        writer.update(keys)
        assert {key: plain(writer[key]) for key in writer} == keys
    with ingot.open(path) as model:
        assert {key: plain(value) for key, value in model.metadata.items()} == keys
        assert list(model.metadata) == list(keys)


def test_the_types_of_values(tmp_path):
    path = tmp_path / "types.gguf"
    with ingot.Writer(path) as writer:
        writer["a.small"], writer["a.negative"], writer["a.large"] = 5, -5, 2 ** 40
        writer["a.float"], writer["a.double"] = 0.1, numpy.float64(0.1)
        writer["a.byte"], writer["a.flags"] = numpy.uint8(7), numpy.array([True, False])
        writer["a.counts"] = [1, 2]
        writer["a.table"] = numpy.ones((2, 3), numpy.float32)
        writer.set("a.named", 5, "int16")
        writer.set("a.empty", [], "[string]")
        writer["general.architecture"] = "llama"
        writer["llama.rope.freq_base"] = 10000
        with pytest.raises(ValueError):
            writer["a.untyped"] = []
        with pytest.raises(TypeError):
            writer["a.what"] = object()
        with pytest.raises(OverflowError):
            writer.set("a.numbers", [300], "[uint8]")
        with pytest.raises(ingot.UsageError):
            writer.set("a.number", 3, "uint33")
    with ingot.open(path) as model:
        types = {key: model.metadata.type(key) for key in model.metadata}
    assert types == {
        "a.small": "uint32", "a.negative": "int32", "a.large": "uint64", "a.float": "float32",
        "a.double": "float64", "a.byte": "uint8", "a.flags": "[bool]", "a.counts": "[int32]",
        "a.table": "[[float32]]", "a.named": "int16", "a.empty": "[string]",
        "general.architecture": "string", "llama.rope.freq_base": "float32"}


@pytest.mark.parametrize("value, words", [
    ({"a": 1}, "of type dict cannot be stored"), ({1, 2}, "of type set cannot be stored"),
    ([1, "a"], "these are int and str"), (["a", 1], "these are int and str"), ([[1], 2], "these are int and list"),
    ([True, "a"], "these are bool and str"), ([1, None], "of type NoneType"), ([{"a": 1}], "of type dict"),
    (numpy.array([None]), "NumPy's object")])
@pytest.mark.parametrize("key", ["a.key", "tokenizer.ggml.tokens"])
def test_what_the_format_has_no_type_for_is_refused(tmp_path, key, value, words):
    with pytest.raises(TypeError, match=words):
        ingot.Writer(tmp_path / "a.gguf")[key] = value


@pytest.mark.parametrize("options", [{}, {"version": 1}, {"version": 2}, {"byte_order": "big"}])
def test_tensors_come_back(tmp_path, weights, options):
    path = tmp_path / "a.gguf"
    blocks = ingot.quantize(weights, "Q4_K", byte_order=options.get("byte_order", "little"))
    with ingot.Writer(path, **options) as writer:
        writer["general.architecture"] = "llama"
        writer.add_tensor("array", weights)
        writer.add_tensor("integers", numpy.arange(6, dtype=numpy.int32).reshape(2, 3))
        writer.add_tensor("encoded", weights, "q4_k")
        writer.add_tensor("blocks", blocks, "Q4_K", weights.shape)
        writer.add_tensor("bytes", blocks.tobytes(), "Q4_K", weights.shape)
        writer.add_tensor("pieces", lambda: (row.tobytes() for row in blocks), "Q4_K", weights.shape)
        expected = writer.file_bytes
        header = writer.header()
    content = path.read_bytes()
    assert len(content) == expected and content.startswith(header)
    with ingot.open(path) as model:
        numpy.testing.assert_array_equal(model.tensors["array"].numpy(), weights)
        assert model.tensors["integers"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        for name in ("encoded", "blocks", "bytes", "pieces"):
            numpy.testing.assert_array_equal(model.tensors[name].data, blocks.ravel())
            assert model.tensors[name].shape == weights.shape


def test_a_model_is_copied_tensor_by_tensor(tmp_path, model_path):
    copy = tmp_path / "copy.gguf"
    with ingot.open(model_path) as model, ingot.Writer(copy) as writer:
        writer.copy_keys(model)
        for name, tensor in model.tensors.items():
            writer.add_tensor(name, tensor)
    assert copy.read_bytes() == model_path.read_bytes()


def test_a_tensor_of_a_model_is_encoded_where_another_type_is_named(tmp_path, model, weights):
    with ingot.Writer(tmp_path / "a.gguf") as writer:
        tensor = model.tensors["token_embd.weight"]
        writer.add_tensor("encoded", tensor, type="Q8_0")
        writer.add_tensor("same", tensor, type="f32", shape=weights.shape)
        writer.add_tensor("decoded", model.tensors["blk.0.ffn_down.weight"], type="F16")
        with pytest.raises(TypeError, match="its own shape"):
            writer.add_tensor("reshaped", tensor, shape=(16, 256))
    with ingot.open(tmp_path / "a.gguf") as written:
        tensors = written.tensors
        assert [tensor.type for tensor in tensors.values()] == ["Q8_0", "F32", "F16"]
        assert (tensors["encoded"].data == ingot.quantize(weights, "Q8_0").reshape(-1)).all()
        assert (tensors["same"].numpy() == weights).all()
        decoded = model.tensors["blk.0.ffn_down.weight"].numpy()
        assert (tensors["decoded"].numpy() == decoded.astype(numpy.float16)).all()


def test_nothing_is_left_of_a_failure(tmp_path, weights):
    path = tmp_path / "a.gguf"
    with pytest.raises(RuntimeError):
        with ingot.Writer(path) as writer:
            writer["general.architecture"] = "llama"
            raise RuntimeError

    def pieces():
        yield b"1234"
        raise KeyError("pieces")

    with pytest.raises(KeyError, match="pieces"):
        with ingot.Writer(path) as writer:
            writer.add_tensor("a", pieces, "F32", (4,))
    with pytest.raises(ingot.UsageError) as caught:
        with ingot.Writer(path) as writer:
            writer.add_tensor("a", lambda: [b"1234"], "F32", (4,))
    assert caught.value.code == "size_mismatch"
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_nearly_a_standard_one_is_asked_about(model_path, tmp_path):
    with ingot.edit(model_path, tmp_path / "a.gguf") as keys:
        with pytest.raises(ingot.UsageError, match="did you mean 'general.license'"):
            keys["general.licence"] = "mit"
        keys["general.license"] = "mit"
        keys.set("general.licence", "mit", "string")
        keys["general.licence"] = "apache-2.0"  # it is there now
    with ingot.open(tmp_path / "a.gguf") as model:
        assert (model["general.license"], model["general.licence"]) == ("mit", "apache-2.0")


def test_a_file_is_replaced_only_on_demand(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(b"precious")
    with pytest.raises(ingot.UsageError) as caught:
        with ingot.Writer(path) as writer:
            writer["general.architecture"] = "llama"
    assert caught.value.code == "already_exists" and path.read_bytes() == b"precious"
    with ingot.Writer(path, force=True) as writer:
        writer["general.architecture"] = "llama"
    assert ingot.open(path).metadata["general.architecture"] == "llama"


@pytest.fixture
def copy(tmp_path, model_path):
    path = tmp_path / "edited.gguf"
    path.write_bytes(model_path.read_bytes())
    return path


def test_an_edit_changes_keys_and_names(copy, weights):
    with ingot.edit(copy) as keys:
        keys["general.name"] = "Another"
        keys["llama.context_length"] = 4096
        keys["a.new.key"] = ["x", "y"]
        del keys["llama.feed_forward_length"]
        keys.rename_key("tokenizer.chat_template", "old.template")
        keys.rename_tensor("output_norm.weight", "norm.weight")
        assert keys["general.name"] == "Another" and "llama.feed_forward_length" not in keys
        assert keys.plan().way in ("in_place", "insert_range", "shared_copy", "copy")
    assert keys.outcome.way != "nothing"
    with ingot.open(copy) as model:
        assert model.metadata["general.name"] == "Another"
        assert model.metadata["a.new.key"] == ["x", "y"]
        assert model.metadata.type("llama.context_length") == "uint32"
        assert "llama.feed_forward_length" not in model.metadata
        assert "old.template" in model.metadata and "norm.weight" in model.tensors
        numpy.testing.assert_array_equal(model.tensors["token_embd.weight"].numpy(), weights)
    with ingot.edit(copy) as keys:
        keys["general.name"] = "Shorter"
    assert keys.outcome.way == "in_place"


def test_a_failed_edit_changes_nothing(copy):
    before = copy.read_bytes()
    with pytest.raises(RuntimeError):
        with ingot.edit(copy) as keys:
            keys["general.name"] = "Another"
            raise RuntimeError
    with ingot.edit(copy) as keys:
        pass
    assert keys.outcome.way == "nothing"
    with ingot.edit(copy) as keys:
        with pytest.raises(KeyError):
            del keys["no.such.key"]
        with pytest.raises(KeyError):
            keys["no.such.key"]
        with pytest.raises(ingot.UsageError) as caught:
            keys.rename_tensor("no.such.tensor", "x")
        keys.discard()
    assert caught.value.code == "tensor_not_found" and copy.read_bytes() == before


def test_an_edit_can_have_another_output(copy, tmp_path):
    before = copy.read_bytes()
    with ingot.edit(copy, tmp_path / "new.gguf", reserve=100000) as keys:
        keys["general.name"] = "New"
        keys.remove_tensor("token_embd.weight")
    assert copy.read_bytes() == before
    with ingot.open(tmp_path / "new.gguf") as model:
        assert model.metadata["general.name"] == "New" and len(model.tensors) == 2


def test_a_file_is_locked_while_it_is_edited(copy):
    with ingot.edit(copy):
        with pytest.raises(ingot.InputOutputError) as caught:
            ingot.edit(copy, wait=0)
    assert caught.value.code == "file_in_use"
