# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: models that they make themselves, and places."""
import os
import pathlib
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Hypothesis keeps tables of Unicode; read when it is imported.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(ROOT / "build" / "hypothesis"))

import hypothesis
import numpy
import pytest

import ingot

# The same examples each time, and nothing left in the tree.
hypothesis.settings.register_profile("ingot", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("ingot")


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def corpus():
    """The valid files of the repository."""
    return ROOT / "tests" / "corpus" / "valid"


@pytest.fixture(scope="session")
def shared():
    """Files that are too many or too large for the repository."""
    folder = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{folder} is missing; set INGOT_SHARED")
        pytest.skip(f"{folder} is missing")
    return folder


@pytest.fixture(scope="session")
def weights():
    return numpy.random.default_rng(7).standard_normal((8, 512), numpy.float32)


TEMPLATE = ("{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>"
            "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}")


def write_model(path, weights):
    """A small llama with a tokenizer of single bytes, weights of three types, and a template."""
    letters = [chr(byte) for byte in range(33, 127)] + ["\u0120"]
    tokens = letters + ["ab", "<|end|>", "<|user|>", "<|assistant|>"]
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "llama"
        writer["general.name"] = "A small model"
        writer["llama.block_count"] = 1
        writer["llama.context_length"] = 128
        writer["llama.embedding_length"] = 512
        writer["llama.feed_forward_length"] = 512
        writer["llama.attention.head_count"] = 4
        writer["llama.attention.layer_norm_rms_epsilon"] = 1e-5
        writer["tokenizer.ggml.model"] = "gpt2"
        writer["tokenizer.ggml.pre"] = "default"
        writer["tokenizer.ggml.tokens"] = tokens
        writer["tokenizer.ggml.token_type"] = [1] * (len(tokens) - 3) + [3] * 3
        writer["tokenizer.ggml.merges"] = ["a b"]
        writer["tokenizer.ggml.eos_token_id"] = len(tokens) - 3
        writer["tokenizer.chat_template"] = TEMPLATE
        writer.add_tensor("token_embd.weight", weights)
        writer.add_tensor("blk.0.ffn_down.weight", weights * 2, "Q8_0")
        writer.add_tensor("output_norm.weight", weights[0].astype(numpy.float16))
    return path


@pytest.fixture(scope="session")
def model_path(tmp_path_factory, weights):
    return write_model(tmp_path_factory.mktemp("model") / "small.gguf", weights)


@pytest.fixture
def model(model_path):
    with ingot.open(model_path) as opened:
        yield opened


@pytest.fixture
def turns_during():
    """Counts the turns of this thread while another one works: a few, if the work keeps the GIL."""
    def count(work):
        done = threading.Event()

        def run():
            try:
                work()
            finally:
                done.set()

        worker = threading.Thread(target=run)
        turns = 0
        worker.start()
        while not done.is_set():
            turns += 1
            time.sleep(0.0005)
        worker.join()
        return turns
    return count
