# SPDX-License-Identifier: MIT
"""Models on servers: a server on this machine, with a hub and a registry."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

import ingot
from ingot import _core

pytestmark = pytest.mark.skipif(not hasattr(_core, "open_remote"), reason="built without libcurl")


class Site:
    """The server, the folder that it serves, and what it was asked for."""

    def __init__(self, root, folder):
        self.folder = folder
        self._log = folder.parent / "log"
        self._process = subprocess.Popen(
            [sys.executable, root / "tests" / "support" / "model_server.py", folder, "--log", self._log],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{self._process.stdout.readline().split()[0]}"

    def requests(self):
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def close(self):
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


@pytest.fixture
def site(root, tmp_path, model_path, monkeypatch):
    folder = tmp_path / "www"
    for place in ("model.gguf", "hub/org/repo/model-Q8_0.gguf", "hub/org/wrong/model-Q8_0.gguf"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(model_path, folder / place)
    opened = Site(root, folder)
    # Nothing of the user: no token, no cache.
    for name in ("HOME", "XDG_CACHE_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("HF_TOKEN", "INGOT_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", opened.address + "/hub")
    yield opened
    opened.close()


def test_an_address_opens(site, weights):
    with ingot.open(site.address + "/model.gguf") as model:
        assert model.metadata["general.name"] == "A small model"
        assert model.metadata["tokenizer.ggml.tokens"][0] == "!"
        numpy.testing.assert_array_equal(model.tensors["token_embd.weight"].numpy(), weights)
    assert {request["path"] for request in site.requests()} == {"/model.gguf"}
    assert all(request["range"] for request in site.requests())


def test_a_name_in_a_hub_opens(site, model_path):
    assert [(file.name, file.nbytes) for file in ingot.ls("hf:org/repo")] == [
        ("model-Q8_0.gguf", model_path.stat().st_size)]
    with ingot.open("hf:org/repo:Q8_0") as model:
        assert model.metadata["general.name"] == "A small model"


def test_models_of_this_system_are_listed(tmp_path, model_path, monkeypatch):
    manifest = tmp_path / "ollama/manifests/registry.ollama.ai/library/tiny/latest"
    digest = hashlib.sha256(model_path.read_bytes()).hexdigest()
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "size": 1,
                                                "digest": "sha256:" + digest}]}))
    blob = tmp_path / "ollama/blobs" / ("sha256-" + digest)
    blob.parent.mkdir()
    blob.write_bytes(model_path.read_bytes())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    listed, = ingot.ls()
    assert listed[:4] == ("ollama:tiny", "ollama", str(blob), digest)
    assert (listed.title, listed.architecture, listed.context_length) == ("A small model", "llama", 128)
    assert listed.parameters == 4096 * 2 + 512 and listed.type == "F32" and listed.chat_template
    assert listed.size_bytes == model_path.stat().st_size and listed.license is None and listed.error is None
    assert listed.modified_at == int(blob.stat().st_mtime)
    assert model_path in [pathlib.Path(model.path) for model in ingot.ls(model_path.parent)]


def test_models_of_a_folder_are_sorted_and_compared(tmp_path, model_path):
    for name in ("m10", "m9"):
        (tmp_path / f"{name}.gguf").write_bytes(model_path.read_bytes())
    with ingot.edit(tmp_path / "m9.gguf", tmp_path / "named.gguf") as keys:
        keys["general.name"] = "Another" * 1000
        keys["general.license"] = "mit"
    (tmp_path / "bad.gguf").write_bytes(b"GGUF")
    os.link(tmp_path / "m9.gguf", tmp_path / "n1.gguf")
    rows = ingot.ls(tmp_path, sort="name", duplicates=True, digest=True)
    assert [pathlib.Path(row.path).stem for row in rows] == ["bad", "m9", "m10", "n1", "named"]
    assert rows[0].error and rows[0].architecture is None
    assert {row.duplicate_of for row in rows[1:]} == {None, next(row.name for row in rows[1:] if not row.duplicate_of)}
    assert rows[1].sha256 == hashlib.sha256(model_path.read_bytes()).hexdigest() and rows[4].license == "mit"
    assert ingot.ls(tmp_path, sort="size", limit=1)[0].path.endswith("named.gguf")
    assert len(ingot.ls(tmp_path, filter="*/m*")) == 2 and len(ingot.ls(tmp_path, filter="re:^llama$")) == 4
    with pytest.raises(ValueError, match="sort is one of name, size"):
        ingot.ls(tmp_path, sort="color")
    with pytest.raises(TypeError, match="of this system"):
        ingot.ls("hf:org/repo", duplicates=True)


def test_all_models_of_a_repository_are_checked(site):
    broken = sorted((pathlib.Path(__file__).parent.parent / "corpus/invalid").glob("key_duplicate*.gguf"))[0]
    shutil.copy(broken, site.folder / "hub/org/repo/other.gguf")
    found = ingot.check("hf:org/repo")
    assert ("key_duplicate", "other.gguf") in [(one.rule, one.shard) for one in found]
    assert ingot.check("hf:org/repo:Q8_0") == [one._replace(shard=None) for one in found if one.shard == "model-Q8_0.gguf"]


def test_headers_are_kept(site, tmp_path):
    with ingot.open("hf:org/repo:Q8_0"):
        pass
    assert ingot.remote_cache_folder().startswith(str(tmp_path))
    header, = ingot.list_remote_cache()
    assert "model-Q8_0.gguf" in header.address and min(header.bytes, header.file_size) > 0
    assert ingot.clear_remote_cache() > 0 and ingot.list_remote_cache() == []


def test_errors_of_a_server(site):
    with pytest.raises(ingot.Error, match="none.gguf"):
        ingot.open(site.address + "/none.gguf")
    with pytest.raises(ingot.Error) as caught:
        ingot.ls("hf:org/nothing")
    assert caught.value.code and isinstance(caught.value, (ValueError, OSError))


def test_a_model_is_downloaded_and_proven(site, tmp_path, model_path):
    done = []
    file, = ingot.download("hf:org/repo:Q8_0", tmp_path, progress=done.append)
    assert pathlib.Path(file.path).read_bytes() == model_path.read_bytes()
    assert file.verified and not file.was_there and done[-1] == file.size and file.kept_bytes == 0
    again, = ingot.download("hf:org/repo:Q8_0", tmp_path)
    assert again.was_there and again.sha256 == file.sha256
    folder = tmp_path / "wrong"
    folder.mkdir()
    with pytest.raises(ingot.Error) as caught:
        ingot.download("hf:org/wrong:Q8_0", folder)
    assert caught.value.code == "digest_mismatch" and not list(folder.glob("*.gguf"))


def test_the_exception_of_progress_arrives(site, tmp_path):
    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ingot.download(site.address + "/model.gguf", tmp_path, progress=stop)
