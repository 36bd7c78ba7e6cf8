# SPDX-License-Identifier: MIT
"""Opening models: metadata, tensors, views, lifetimes."""
import gc
import io
import pydoc
import re
import subprocess
import sys
import threading

import numpy
import pytest

import ingot


def test_values_have_the_types_of_python(model):
    keys = model.metadata
    assert keys["general.architecture"] == "llama"
    assert keys["llama.block_count"] == 1 and keys.type("llama.block_count") == "uint32"
    assert keys["llama.attention.layer_norm_rms_epsilon"] == numpy.float32(1e-5)
    assert "no.such.key" not in keys and keys.get("no.such.key") is None
    assert list(keys)[0] == "general.architecture" and len(keys) == len(list(keys)) == 15
    with pytest.raises(KeyError):
        keys["no.such.key"]


def test_a_model_has_a_name_and_says_which_names_are_meant(model):
    assert model.name == model["general.name"] and model.architecture == "llama"
    assert "general.name" in model and "no.such.key" not in model
    with pytest.raises(TypeError):
        iter(model)
    with pytest.raises(KeyError, match="did you mean 'general.name'"):
        model["general.nmae"]
    with pytest.raises(KeyError, match="did you mean 'token_embd.weight'"):
        model.tensors["token_emb.weight"]
    with pytest.raises(ingot.UnknownName) as caught:
        model["something else"]
    assert str(caught.value) == "'something else'"


def test_every_kind_of_value_in_every_version_and_byte_order(corpus):
    opened = [ingot.open(corpus / name) for name in
              ("everything_v3.gguf", "everything_v3_big.gguf", "everything_v2.gguf")]
    first = opened[0].metadata
    assert {first.type(key) for key in first} >= {"uint8", "int64", "float64", "bool", "string",
                                                  "[string]"}
    for other in opened[1:]:
        assert list(other.metadata) == list(first)
        for key in first:
            assert same(other.metadata[key], first[key]), key
        for name, tensor in opened[0].tensors.items():
            assert other.tensors[name].data.tobytes() == tensor.data.tobytes()
            assert other.tensors[name].shape == tensor.shape


def same(a, b):
    if isinstance(a, ingot.Elements):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return numpy.array_equal(a, b, equal_nan=isinstance(a, float))


def test_arrays_of_numbers_are_read_only_views(model):
    types = model.metadata["tokenizer.ggml.token_type"]
    assert types.dtype == numpy.int32 and not types.flags.writeable
    with pytest.raises(ValueError):
        types.flags.writeable = True


def test_keys_of_models_are_compared(model, model_path, tmp_path):
    with ingot.open(model_path) as other:
        assert model.metadata == other.metadata == dict(model.metadata)
    with ingot.edit(model_path, tmp_path / "a.gguf") as keys:
        keys["tokenizer.ggml.token_type"] = [2] + [1] * (len(keys["tokenizer.ggml.tokens"]) - 1)
    with ingot.open(tmp_path / "a.gguf") as other:
        assert model.metadata != other.metadata and list(model.metadata) == list(other.metadata)
    shorter = dict(model.metadata, **{"tokenizer.ggml.token_type": [1]})
    assert model.metadata != shorter and model.metadata != {} and model.metadata != 3


def test_arrays_of_strings_are_lazy_sequences(model):
    tokens = model.metadata["tokenizer.ggml.tokens"]
    everything = tokens.tolist()
    assert tokens == everything and list(tokens) == everything and len(tokens) == len(everything)
    assert tokens[0] == "!" and tokens[-1] == "<|assistant|>" and tokens[1:3] == everything[1:3]
    assert tokens[::-7] == everything[::-7]
    assert "ab" in tokens and tokens.index("ab") == everything.index("ab")
    assert tokens.bytes[94] == "\u0120".encode()
    for index in (len(tokens), -len(tokens) - 1):
        with pytest.raises(IndexError):
            tokens[index]


def test_text_that_is_no_utf8_comes_back(tmp_path):
    path = tmp_path / "odd.gguf"
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = b"a\xffb"
        writer.set("x", [b"\x80", "y"], "[string]")
    with ingot.open(path) as model:
        text = model.metadata["general.architecture"]
        assert text.encode("utf-8", "surrogateescape") == b"a\xffb"
        assert model.metadata.bytes("general.architecture") == b"a\xffb"
        assert list(model.metadata["x"].bytes) == [b"\x80", b"y"]


def test_a_layout_index_is_used_where_it_is_asked_for(tmp_path):
    path = tmp_path / "indexed.gguf"
    with ingot.Writer(path) as writer:
        writer.set("ingot.index", [0], "[uint64]")  # made anew when the file is written
        writer["general.architecture"] = "llama"
        writer.set("tokenizer.ggml.tokens", [f"token {i}" for i in range(20_000)], "[string]")
        writer["general.name"] = "behind the vocabulary"
        writer.add_tensor("token_embd.weight", numpy.ones((2, 32), numpy.float32))
    with open(path, "rb") as file:
        for source in (path, path.read_bytes(), file):
            with ingot.open(source, uses_index=True) as model:
                assert not model.is_verified and "tokenizer.ggml.tokens" not in model.metadata
                assert model.metadata["general.name"] == "behind the vocabulary"
                assert model.tensors["token_embd.weight"].numpy().sum() == 64
    with ingot.open(path) as model:
        assert model.is_verified and len(model.metadata["tokenizer.ggml.tokens"]) == 20_000


def test_shapes_are_in_the_order_of_numpy(model, weights):
    tensor = model.tensors["token_embd.weight"]
    assert tensor.shape == (8, 512) and tensor.ggml_shape == (512, 8)
    assert tensor.numpy().strides == (2048, 4) and len(tensor) == 8
    numpy.testing.assert_array_equal(tensor.numpy(), weights)


def test_plain_tensors_are_views_without_a_copy(model_path):
    content = model_path.read_bytes()
    model = ingot.open(content)
    tensor = model.tensors["token_embd.weight"]
    start = numpy.frombuffer(content, numpy.uint8).__array_interface__["data"][0]
    assert tensor.data.__array_interface__["data"][0] == start + tensor.offset
    assert tensor.numpy().__array_interface__["data"][0] == start + tensor.offset
    assert not tensor.numpy().flags.writeable
    assert tensor.data.nbytes == tensor.nbytes == 8 * 512 * 4


def test_quantized_tensors_are_decoded(model, weights):
    tensor = model.tensors["blk.0.ffn_down.weight"]
    assert tensor.type == "Q8_0" and tensor.dtype == numpy.float32
    decoded = numpy.asarray(tensor)
    assert abs(decoded - 2 * weights).max() < 0.05
    numpy.testing.assert_array_equal(decoded, ingot.dequantize(tensor.data, "Q8_0", tensor.shape))


def test_some_rows_are_decoded(model):
    tensor = model.tensors["blk.0.ffn_down.weight"]
    whole = tensor.dequantize()
    for rows in (slice(0, 3), slice(-2, None), slice(5, 2), slice(None)):
        numpy.testing.assert_array_equal(tensor.dequantize(rows=rows), whole[rows])
    numpy.testing.assert_array_equal(tensor.dequantize(rows=-1, threads=1), whole[-1])
    out = numpy.empty((2, 512), numpy.float32)
    assert tensor.dequantize(rows=slice(2, 4), out=out) is out
    numpy.testing.assert_array_equal(out, whole[2:4])
    with pytest.raises(ingot.UsageError) as caught:
        tensor.dequantize(out=out)
    assert caught.value.code == "size_mismatch"
    with pytest.raises(IndexError):
        tensor.dequantize(rows=8)
    with pytest.raises(ValueError):
        tensor.dequantize(rows=slice(0, 4, 2))
    with pytest.raises(ValueError):
        tensor.dequantize(out=numpy.empty((8, 512), numpy.float64))


def test_a_tensor_is_indexed_like_an_array(model, weights):
    quantized = model.tensors["blk.0.ffn_down.weight"]
    plain, whole = model.tensors["token_embd.weight"], quantized.numpy()
    for key in (0, -1, numpy.int64(3), slice(0, 3), slice(None, None, -2), slice(5, 2), (3, 4),
                (slice(1, 7, 3), slice(None, None, 5)), (slice(2, 4), None), ..., [1, 2]):
        numpy.testing.assert_array_equal(quantized[key], whole[key])
        numpy.testing.assert_array_equal(plain[key], weights[key])
    with pytest.raises(IndexError):
        quantized[8]


def test_names_are_completed(model):
    assert model.tensors._ipython_key_completions_() == list(model.tensors)
    assert "general.name" in model.metadata._ipython_key_completions_()


def test_dlpack_takes_plain_types(model, weights):
    numpy.testing.assert_array_equal(numpy.from_dlpack(model.tensors["token_embd.weight"]), weights)
    with pytest.raises(BufferError):
        numpy.from_dlpack(model.tensors["blk.0.ffn_down.weight"])


@pytest.mark.parametrize("source", ["path", "str", "bytes", "bytearray", "memoryview", "file",
                                    "memory file", "pipe", "read"])
def test_every_source_gives_the_same_model(model_path, source, weights):
    content = model_path.read_bytes()
    options = {}
    if source == "path":
        made = model_path
    elif source == "str":
        made = str(model_path)
    elif source == "read":
        made, options = model_path, {"access": "read"}
    elif source == "file":
        made = open(model_path, "rb")
    elif source == "memory file":
        made = io.BytesIO(content)
    elif source == "pipe":
        made = subprocess.Popen(["cat", model_path], stdout=subprocess.PIPE).stdout
    else:
        made = {"bytes": bytes, "bytearray": bytearray, "memoryview": memoryview}[source](content)
    model = ingot.open(made, **options)
    assert model.metadata["general.name"] == "A small model"
    numpy.testing.assert_array_equal(model.tensors["token_embd.weight"].numpy(), weights)
    assert model.metadata["tokenizer.ggml.tokens"][0] == "!"
    if hasattr(made, "close"):
        made.close()


def test_the_exception_of_a_file_object_arrives(model_path):
    class Broken(io.BytesIO):
        def read(self, count=-1):
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ingot.open(Broken(model_path.read_bytes()))


def test_closing_is_deferred_while_there_are_views(model_path, weights):
    model = ingot.open(model_path)
    tensor = model.tensors["token_embd.weight"]
    view, tokens = tensor.numpy(), model.metadata["tokenizer.ggml.tokens"]
    keys = model.metadata
    model.close()
    assert model.closed
    del model
    gc.collect()
    numpy.testing.assert_array_equal(view, weights)
    numpy.testing.assert_array_equal(tensor.dequantize(), weights)
    assert tokens[0] == "!"
    with pytest.raises(ValueError):
        keys["general.name"]
    assert repr(keys) == "<ingot.Metadata: closed>"


def mappings_of(path):
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        return sum(str(path) in line for line in maps)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_file_is_unmapped_with_its_last_view(model_path):
    gc.collect()
    before = mappings_of(model_path)
    model = ingot.open(model_path)
    view = model.tensors["token_embd.weight"].numpy()[2:, ::2]
    model.close()
    del model
    gc.collect()
    assert mappings_of(model_path) == before + 1
    del view
    gc.collect()
    assert mappings_of(model_path) == before


def test_many_threads_read_one_model(model, weights):
    failures = []

    def read():
        for _ in range(50):
            for name, tensor in model.tensors.items():
                if tensor.dequantize(threads=1).shape != tensor.shape:
                    failures.append(name)
            if model.metadata["tokenizer.ggml.tokens"][40] != "I":
                failures.append("tokens")

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_anatomy_covers_every_byte(model, model_path):
    fields = model.anatomy()
    position = 0
    for field in fields:
        assert field.offset == position
        position += field.size
    assert position == model_path.stat().st_size
    assert fields[0].field == "magic" and fields[0].meaning == '"GGUF"' and fields[0].subject is None
    with pytest.warns(DeprecationWarning, match="nbytes is called size"):
        assert fields[0].nbytes == 4


def test_the_summary(model):
    summary = model.summary()
    assert summary["model"]["architecture"] == "llama" and summary["model"]["block_count"] == 1
    assert summary["model"]["parameters"] == 2 * 8 * 512 + 512
    assert {"type": "Q8_0", "tensors": 1, "elements": 4096, "bytes": 4352} in summary["types"]
    with pytest.warns(DeprecationWarning, match=r"\['model'\]\['parameters'\]"):
        assert summary["parameter_count"] == summary["model"]["parameters"]
    assert model.is_complete and model.format == "gguf"


def test_files_have_the_names_of_show(model):
    file = model.files[0]
    assert (file.version, file.endian, file.shard) == (3, "little", 0)
    assert file.metadata_count == len(model.metadata) and file.tensor_count == len(model.tensors)
    with pytest.warns(DeprecationWarning, match="file_bytes is called file_size"):
        assert file.file_bytes == file.file_size


def test_help_reads_like_that_of_numpy():
    for function in (ingot.open, ingot.dequantize, ingot.quantize, ingot.edit, ingot.Writer):
        text = pydoc.plain(pydoc.render_doc(function))
        assert "Parameters\n" in text and re.search(r"in module ingot\b[^.]", text)
        assert "ForwardRef" not in text
        assert max(map(len, function.__doc__.splitlines())) <= 110
