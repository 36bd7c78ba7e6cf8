# SPDX-License-Identifier: MIT
"""LoRA adapters in GGUF."""
import hypothesis
import hypothesis.strategies as st
import numpy
import pytest

import ingot

NAME = "token_embd.weight"
DOWN = "blk.0.ffn_down.weight"


def write_adapter(path, halves, alpha=8.0, architecture="llama"):
    """An adapter; `halves` has (b, a) for each tensor, or the whole tensor."""
    with ingot.Writer(path, force=True) as writer:
        writer["general.type"] = "adapter"
        writer["general.architecture"] = architecture
        writer["adapter.type"] = "lora"
        writer.set("adapter.lora.alpha", alpha, "float32")
        for name, (b, a) in halves.items():
            writer.add_tensor(f"{name}.lora_a", a)
            writer.add_tensor(f"{name}.lora_b", b)
    return path


def write_base(path, weights):
    with ingot.Writer(path, force=True) as writer:
        writer["general.architecture"] = "llama"
        writer.add_tensor(NAME, numpy.ones((4, 32), numpy.float32))
        writer.add_tensor(DOWN, weights)
    return path


@hypothesis.given(rank=st.integers(1, 5), alpha=st.sampled_from([0.0, 2.0, 16.0]),
                  scales=st.lists(st.floats(-2, 2, width=16), min_size=1, max_size=3),
                  threads=st.integers(0, 2), seed=st.integers(0, 100))
@hypothesis.settings(max_examples=25)
def test_a_merge_adds_the_products(tmp_path_factory, rank, alpha, scales, threads, seed):
    folder = tmp_path_factory.mktemp("lora")
    random = numpy.random.default_rng(seed)
    expected = weights = random.standard_normal((8, 64), numpy.float32)
    base = write_base(folder / "base.gguf", weights)
    paths = []
    for number, scale in enumerate(scales):
        b = random.standard_normal((8, rank), numpy.float32)
        a = random.standard_normal((rank, 64), numpy.float32)
        paths.append(write_adapter(folder / f"{number}.gguf", {DOWN: (b, a)}, alpha))
        expected = expected + scale * (alpha / rank if alpha else 1.0) * (b.astype(float) @ a)
    merge = ingot.merge_lora(base, paths, folder / "merged.gguf", scale=scales, threads=threads)
    assert merge.changed == [DOWN]
    assert merge.file_bytes == (folder / "merged.gguf").stat().st_size
    with ingot.open(folder / "merged.gguf") as merged, ingot.open(base) as before:
        numpy.testing.assert_allclose(merged.tensors[DOWN].numpy(), expected, rtol=1e-4, atol=1e-4)
        assert merged.tensors[NAME].data.tobytes() == before.tensors[NAME].data.tobytes()


@pytest.fixture
def base(tmp_path, weights):
    return write_base(tmp_path / "base.gguf", weights)


@pytest.fixture
def adapter(tmp_path):
    halves = numpy.ones((8, 2), numpy.float32), numpy.ones((2, 512), numpy.float32)
    return write_adapter(tmp_path / "adapter.gguf", {DOWN: halves})


def test_an_adapter_says_what_it_changes(adapter):
    found = ingot.read_lora(adapter)
    assert found.architecture == "llama" and found.alpha == 8 and not found.needs_invocation
    assert found.tensors == [ingot.LoraChange(DOWN, 2, 4.0, 8, 512, "F32")]
    assert set(type(found).__annotations__) | {"_core"} == set(vars(found))
    with pytest.deprecated_call():
        assert found.changes is found.tensors
    with pytest.deprecated_call():
        assert found.tensors[0].shape == (8, 512)
    assert repr(found) == "<ingot.LoraAdapter: llama, 1 tensors>"


def test_options_of_a_merge(base, adapter, weights, tmp_path):
    target = tmp_path / "merged.gguf"
    planned = ingot.merge_lora(base, adapter, target, dry_run=True)
    assert not target.exists()
    seen = []
    merge = ingot.merge_lora(base, ingot.read_lora(adapter), target, type="F16", scale=0.5,
                             progress=seen.append)
    assert merge.changed == planned.changed and merge.file_bytes < planned.file_bytes and seen[-1] > 0
    with ingot.open(target) as model:
        assert model.tensors[DOWN].type == "F16" and model.tensors[NAME].type == "F32"
        numpy.testing.assert_allclose(model.tensors[DOWN].numpy(), weights + 4, atol=0.01)
    with pytest.raises(ingot.UsageError) as caught:
        ingot.merge_lora(base, adapter, target)
    assert caught.value.code == "already_exists"


def test_what_cannot_be_merged_is_refused(base, adapter, model_path, tmp_path):
    with pytest.raises(ingot.FormatError) as caught:
        ingot.read_lora(base)
    assert caught.value.code == "adapter_invalid" and "base.gguf" in str(caught.value)
    halves = numpy.ones((8, 2), numpy.float32), numpy.ones((2, 64), numpy.float32)
    other = write_adapter(tmp_path / "other.gguf", {DOWN: halves})
    with pytest.raises(ingot.UsageError) as caught:
        ingot.merge_lora(base, [adapter, other], tmp_path / "merged.gguf")
    assert caught.value.code == "adapter_mismatch"
    with pytest.raises(ValueError, match="scale"):
        ingot.merge_lora(base, [adapter], tmp_path / "merged.gguf", scale=[1, 2])
    with pytest.raises(ingot.UsageError):
        ingot.merge_lora(base, [], tmp_path / "merged.gguf")
    assert not (tmp_path / "merged.gguf").exists()
