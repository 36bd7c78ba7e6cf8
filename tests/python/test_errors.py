# SPDX-License-Identifier: MIT
"""Errors: classes, attributes, hostile files."""
import errno
import json
import pickle
import re
import subprocess
import sys

import pytest

import ingot
from ingot import _core


def test_a_broken_file_is_a_value_error(model_path):
    content = model_path.read_bytes()
    with pytest.raises(ingot.FormatError) as caught:
        ingot.open(content[:600])
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, ingot.Error)
    assert error.code in ("truncated", "count_exceeds_file") and error.number > 0
    assert isinstance(error.offset, int) and error.subject
    assert f"at byte {error.offset}" in str(error)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ingot.open(tmp_path / "none.gguf")
    assert isinstance(caught.value, ingot.InputOutputError)
    assert caught.value.errno == errno.ENOENT and "none.gguf" in str(caught.value)
    assert caught.value.filename == str(tmp_path / "none.gguf")
    again = pickle.loads(pickle.dumps(caught.value))  # from another process
    assert (type(again), str(again), again.errno, again.filename, again.code) == (
        ingot.MissingFileError, str(caught.value), errno.ENOENT, caught.value.filename, "io_error")


@pytest.mark.parametrize("work", [ingot.open, ingot.show, ingot.check])
def test_an_empty_path_is_no_folder(tmp_path, monkeypatch, work):
    (tmp_path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"]}')
    empty = b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
    (tmp_path / "model.safetensors").write_bytes(len(empty).to_bytes(8, "little") + empty)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ingot.UsageError, match="the name of the file is empty"):
        work("")


def test_messages_name_the_file(tmp_path, model, model_path):
    missing = tmp_path / "none.gguf"
    for work in (ingot.open, ingot.check, ingot.edit, ingot.imatrix,
                 lambda path: ingot.repair(path, tmp_path / "b.gguf"),
                 lambda path: ingot.quantize_model(model, path / "no folder", "Q4_0",
                                                     allow_requantize=True),
                 lambda path: ingot.split(model, path / "no folder", max_tensors=1),
                 lambda path: ingot.convert(model, path / "x.npz")):
        with pytest.raises(FileNotFoundError, match=re.escape(str(missing))) as caught:
            work(missing)
        assert "None" not in str(caught.value) and caught.value.strerror
    with pytest.raises(ingot.UsageError, match=re.escape(str(model_path))):
        ingot.Writer(model_path).write()
    assert ingot.Error.__module__ == "ingot"  # as tracebacks show it


@pytest.mark.parametrize("options", [{"ctx_size": "many"}, {"ctx_size": -1}, {"device": 3.5}, {"device": True},
                                     {"no_such_option": 1}, {"mmap": []}])
def test_an_option_of_another_type_is_a_type_error(model, options):
    with pytest.raises(TypeError, match=next(iter(options))):
        ingot.fit(model, **options)


def test_a_word_that_is_no_choice_is_refused(model, tmp_path):
    for work in (lambda: ingot.fit(model, flash_attn="maybe"),
                 lambda: ingot.convert(model, tmp_path / "a.npz", names="other"),
                 lambda: ingot.convert(model, tmp_path / "a.gguf", endian="middle"),
                 lambda: ingot.quantize([1.0], "F32", effort="most"),
                 lambda: ingot.hash(model, "crc32")):
        with pytest.raises(ingot.UsageError) as caught:
            work()
        assert caught.value.code == "invalid_argument"


def test_a_name_that_is_nearly_right_gets_a_hint(model):
    for work, words in ((lambda: ingot.plan_quantization(model, "Q4KM"), "no recipe of this name; did you mean 'Q4_K_M'"),
                        (lambda: ingot.plan_quantization(model, "q5km"), "did you mean 'Q5_K_M'"),
                        (lambda: ingot.hash(model, "md5"), "no such algorithm; there are sha256, sha1"),
                        (lambda: ingot.architecture("lama"), "did you mean 'llama'"),
                        (lambda: ingot.check(model, only="tensor_shap"), "did you mean 'tensor_shape'")):
        with pytest.raises(ingot.UsageError, match=words):
            work()


def test_a_wrong_request_is_a_usage_error(model):
    with pytest.raises(ingot.UsageError) as caught:
        ingot.dequantize(b"12", "Q9_9")
    assert caught.value.code == "unsupported_type" and isinstance(caught.value, ValueError)


def test_every_code_has_a_class():
    from ingot._errors import make_error
    for number, code, category, sentence in _core.errors:
        error = make_error(sentence, category, 0, {"code": code, "number": number}, None)
        assert isinstance(error, (ValueError, OSError, UserWarning)), code
        assert error.code == code and error.number == number


@pytest.mark.parametrize("source", [3, None, object(), [b"GGUF"], {"a": 1}])
def test_what_is_no_source_is_a_type_error(source):
    with pytest.raises(TypeError):
        ingot.open(source)


def test_a_reference_that_is_none_is_refused():
    with pytest.raises(ingot.Error):
        ingot.open("hf:no repository")


# Reads everything that a model offers; what hostile bytes must not turn into a crash.
READ_ALL = """
import json, sys
import ingot
verdicts = {}
for path in sys.argv[1:]:
    try:
        with ingot.open(path) as model:
            for key, value in model.metadata.items():
                value.tolist() if hasattr(value, "tolist") else value
            for tensor in model.tensors.values():
                if tensor.size <= 1 << 22:
                    tensor.numpy(), tensor.dequantize()
            model.summary(), model.anatomy(), model.notices, model.files, repr(model)
        verdicts[path] = "accept"
    except ingot.Error as error:
        assert error.code != "internal", (path, str(error))
        verdicts[path] = error.code
print(json.dumps(verdicts))
"""


def read_all(paths):
    run = subprocess.run([sys.executable, "-c", READ_ALL, *map(str, paths)], check=False,
                         capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def test_the_corpus_of_the_repository(root, corpus):
    invalid = sorted((root / "tests" / "corpus" / "invalid").glob("*.gguf"))
    verdicts = read_all(invalid)
    for path in invalid:
        assert verdicts[str(path)] == path.name.split("__")[0]
    valid = sorted(corpus.glob("*.gguf"))
    assert set(read_all(valid).values()) == {"accept"}


def test_the_hostile_corpus(shared):
    folder = shared / "hostile" / "files"
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing")
    entries = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    verdicts = read_all(folder / name for name in entries)
    assert len(verdicts) == len(entries) == 320
    wrong = {name: verdicts[str(folder / name)] for name, entry in entries.items()
             if (entry["expect"] == "reject") == (verdicts[str(folder / name)] == "accept")}
    assert not wrong
