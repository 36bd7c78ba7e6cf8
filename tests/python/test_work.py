# SPDX-License-Identifier: MIT
"""Work on whole models."""
import hashlib
import os
import signal
import subprocess
import sys
import time

import numpy
import pytest

import ingot


@pytest.fixture(scope="module")
def large_path(tmp_path_factory):
    """Weights that take a while to quantize."""
    path = tmp_path_factory.mktemp("large") / "large.gguf"
    rows = numpy.random.default_rng(1).standard_normal((64, 4096), numpy.float32)
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "llama"
        writer["llama.block_count"] = 12
        for layer in range(12):
            writer.add_tensor(f"blk.{layer}.ffn_down.weight",
                              lambda: (rows.tobytes() for _ in range(16)), "F32", (1024, 4096))
    return path


def test_a_model_is_split_and_merged(model_path, tmp_path):
    planned = ingot.split(model_path, tmp_path / "part", max_tensors=1, dry_run=True)
    assert not list(tmp_path.iterdir())
    shards = ingot.split(model_path, tmp_path / "part", max_tensors=1)
    assert shards == planned and len(shards) == 3
    assert [os.path.getsize(shard.file) for shard in shards] == [shard.bytes for shard in shards]
    with ingot.open(shards[0].file) as model:
        assert len(model.files) == 3 and len(model.tensors) == 3 and model.is_complete
        assert [tensor.shard for tensor in model.tensors.values()] == [0, 1, 2]
    whole = tmp_path / "whole.gguf"
    assert ingot.merge(shards[0].file, whole) == whole.stat().st_size
    assert whole.read_bytes() == model_path.read_bytes()
    with pytest.raises(ingot.UsageError) as caught:
        ingot.split(model_path, tmp_path / "other", max_size=10)
    assert caught.value.code == "split_impossible"


def test_a_model_is_converted_there_and_back(model_path, tmp_path, weights):
    with pytest.raises(ingot.UsageError):
        ingot.convert(model_path, tmp_path / "a.safetensors", type="Q4_K")
    there = ingot.convert(model_path, tmp_path / "a.safetensors")
    assert there.outputs == [str(tmp_path / "a.safetensors")]
    with ingot.open(tmp_path / "a.safetensors") as model:
        assert model.format == "safetensors"
        numpy.testing.assert_array_equal(model.tensors["token_embd.weight"].numpy(), weights)
        assert model.paths == there.outputs
    back = ingot.convert(tmp_path / "a.safetensors", tmp_path / "b.gguf")
    with ingot.open(tmp_path / "b.gguf") as model:
        assert model.metadata["general.name"] == "A small model"
    assert back.total_bytes > 0
    ingot.convert(model_path, tmp_path / "a.npz")
    with numpy.load(tmp_path / "a.npz") as arrays:
        numpy.testing.assert_array_equal(arrays["token_embd.weight"], weights)


def test_a_model_is_quantized_by_a_recipe(model_path, tmp_path, weights):
    plan = ingot.plan_quantization(model_path, "Q4_K_M", allow_requantize=True)
    assert {tensor.name for tensor in plan.tensors} == set(ingot.open(model_path).tensors)
    errors = ingot.quantize_model(model_path, tmp_path / "q.gguf", "Q4_K_M", allow_requantize=True)
    assert len(errors) == 3
    with ingot.open(tmp_path / "q.gguf") as model:
        assert sum(tensor.nbytes for tensor in model.tensors.values()) == plan.bytes
        for tensor in plan.tensors:
            assert model.tensors[tensor.name].type == tensor.to
            assert model.tensors[tensor.name].shape == tensor.shape
    assert {tensor.reason for tensor in plan.tensors} == {"mixture", "one_dimension"}
    with pytest.warns(DeprecationWarning, match="source_type is called from_"):
        assert plan.tensors[0].source_type == plan.tensors[0].from_
    with pytest.raises(ingot.UsageError) as caught:
        ingot.quantize_model(model_path, tmp_path / "r.gguf", "Q4_K_M")
    assert caught.value.code == "requantize_refused"
    with pytest.raises(TypeError):
        ingot.plan_quantization(model_path)
    assert "Q4_K_M" in [recipe.name for recipe in ingot.recipes()]


def test_rules_that_refuse_a_file_say_so():
    rules = {rule.rule: rule for rule in ingot.check_rules()}
    assert rules["not_gguf"].severity == "refused" and rules["not_gguf"].source == "format"
    assert rules["split_keys"].severity == "warning"


def test_fit_knows_this_machine(model_path):
    machine = ingot.this_machine()
    fit = ingot.fit(model_path, device="auto")
    assert [device["name"] for device in fit["devices"]] == [card["name"] for card in machine["devices"]]
    assert machine["host_bytes"] > 1 << 20 and fit["host"]["capacity_bytes"] > 1 << 20
    assert ingot.fit(model_path, device="auto", host="1G")["host"]["capacity_bytes"] == 1 << 30
    named = ingot.fit(model_path, device=["25769803776B", "24000000001B"])["devices"]
    assert ingot.fit(model_path, device=[24 << 30, 24_000_000_001])["devices"] == named
    alone = [ingot.fit(model_path, device=one)["devices"][0]["capacity_bytes"] for one in (24 << 30, "24G")]
    assert alone[0] == alone[1] == named[0]["capacity_bytes"]


@pytest.fixture
def projector_path(tmp_path):
    """A projector of type gemma3, as far as its header."""
    path = tmp_path / "mmproj.gguf"
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "clip"
        writer["general.type"] = "mmproj"
        writer["clip.projector_type"] = "gemma3"
        writer["clip.has_vision_encoder"] = True
        for key, value in (("image_size", 896), ("patch_size", 14), ("projection_dim", 77)):
            writer[f"clip.vision.{key}"] = value
        writer.add_tensor("mm.input_projection.weight", numpy.zeros((32, 77), numpy.float32))
    return path


def test_images_take_tokens_of_the_context(model_path, projector_path):
    image = ingot.image_tokens(projector_path, 1024, 768)
    assert (image.tokens, image.pictures, image.columns) == (256, 1, 0)
    assert [mark["text"] for mark in image.marks] == ["<start_of_image>", "<end_of_image>"]
    beside = {"with_": [projector_path], "image_size": (1024, 768)}
    assert ingot.fit(model_path, **beside)["image_tokens"] == 256
    assert ingot.fit(model_path, images=3, **beside)["image_tokens"] == 768
    with pytest.raises(ingot.UsageError):
        ingot.fit(model_path, image_size=(1024, 768))
    with pytest.raises(ingot.UsageError):
        ingot.image_tokens(model_path, 1024, 768)


def test_sounds_take_tokens_of_the_context(model_path, tmp_path):
    path = tmp_path / "hears.gguf"
    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "clip"
        writer["general.type"] = "mmproj"
        writer["clip.projector_type"] = "gemma4ua"
        writer["clip.has_audio_encoder"] = True
        writer.add_tensor("mm.a.input_projection.weight", numpy.zeros((32, 640), numpy.float32))
    sound = ingot.sound_tokens(path, 2.5)
    assert sound.tokens == 63  # 640 samples of 16,000 a second each
    assert [mark["text"] for mark in sound.marks] == ["<|audio>", "<audio|>"]
    assert ingot.fit(model_path, with_=[path], audio_seconds=2.5)["audio_tokens"] == 63
    with pytest.raises(ingot.UsageError):
        ingot.fit(model_path, audio_seconds=2.5)


def test_projectors_are_held_against_models(model_path, projector_path):
    assert ingot.pairs([model_path, projector_path]) == []  # the widths differ
    found = ingot.check(model_path, only="projector_mismatch", with_=projector_path)
    assert ["width 77" in finding.message for finding in found] == [True]


def test_architectures_say_what_they_are_made_of():
    assert {"name": "llama", "evaluate": True}.items() <= next(
        row.items() for row in ingot.architectures() if row["name"] == "llama")
    jamba = ingot.architecture("jamba")
    assert jamba["numbers"]["embd"] == "embedding_length"
    assert {"name": "ssm.conv_kernel", "type": "u32", "required": True, "condition": None} in jamba["keys"]
    with pytest.raises(ingot.UsageError) as caught:
        ingot.architecture("nothing")
    assert caught.value.code == "architecture_unsupported"


def test_errors_have_a_size_and_a_direction(model_path, tmp_path, weights):
    errors = ingot.quantize_model(model_path, tmp_path / "q.gguf", "Q4_0", pure=True,
                                  allow_requantize=True, token_embedding_type="Q4_0")
    source = weights.astype(numpy.float64)
    with ingot.open(tmp_path / "q.gguf") as model:
        result = model.tensors["token_embd.weight"].dequantize().astype(numpy.float64)
    found = {error.name: error for error in errors}["token_embd.weight"]
    signal = (source ** 2).sum()
    assert found.slope == pytest.approx((source * result).sum() / signal, rel=1e-6)
    assert found.relative == pytest.approx(numpy.sqrt(((source - result) ** 2).sum() / signal), rel=1e-6)
    assert 0.9 < found.slope < 1


def test_more_effort_gives_less_error(large_path, tmp_path):
    usual, best = (ingot.quantize_model(large_path, tmp_path / f"{effort}.gguf", "Q4_0", effort=effort)
                   for effort in ("reference", "best"))
    assert best[0].rmse < usual[0].rmse
    with pytest.raises(ingot.UsageError):
        ingot.plan_quantization(large_path, "Q4_0", effort="most")


def test_several_plans_are_written_from_one_reading(large_path, tmp_path):
    with ingot.open(large_path) as model:
        plans = [ingot.plan_quantization(model, name) for name in ("Q4_0", "Q8_0")]
        paths = [tmp_path / "a.gguf", tmp_path / "b.gguf"]
        errors = ingot.quantize_together(plans, paths)
        assert errors[0] == plans[0].write(tmp_path / "alone.gguf")
        assert paths[0].read_bytes() == (tmp_path / "alone.gguf").read_bytes()
        assert errors[1][0].rmse < errors[0][0].rmse
        with pytest.raises(ValueError):
            ingot.quantize_together(plans, paths[:1])
    others = [plans[0], ingot.plan_quantization(large_path, "Q8_0")]
    with pytest.raises(ingot.UsageError, match="different models"):
        ingot.quantize_together(others, [tmp_path / "c.gguf", tmp_path / "d.gguf"])


def test_progress_is_reported_and_can_stop_the_work(large_path, tmp_path):
    seen = []
    ingot.quantize_model(large_path, tmp_path / "a.gguf", "Q4_0", progress=seen.append)
    assert seen == sorted(seen) and seen[-1] > 0

    def stop(done):
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        ingot.quantize_model(large_path, tmp_path / "b.gguf", "IQ4_XS", progress=stop)
    assert not (tmp_path / "b.gguf").exists()


def test_work_that_was_stopped_goes_on_within_a_limit_of_memory(large_path, tmp_path):
    target = tmp_path / "a.gguf"
    expected = ingot.quantize_model(large_path, tmp_path / "whole.gguf", "Q8_0")

    def stop(done):
        raise StopIteration

    # The first call may come when a fast machine is done; then the file is there, and is written again.
    with pytest.raises(StopIteration):
        ingot.quantize_model(large_path, target, "Q8_0", resume=True, progress=stop)
    with pytest.raises(ingot.UsageError, match="the least that does"):
        ingot.quantize_model(large_path, tmp_path / "b.gguf", "Q8_0", max_memory=1000)
    errors = ingot.quantize_model(large_path, target, "Q8_0", resume=True, max_memory=1 << 40)
    assert errors == expected
    assert target.read_bytes() == (tmp_path / "whole.gguf").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gguf", "whole.gguf"]


def test_ctrl_c_stops_the_work(large_path, tmp_path):
    script = ("import sys, ingot\nprint('begin', flush=True)\n"
              "try:\n    ingot.quantize_model(sys.argv[1], sys.argv[2], 'IQ4_XS')\n"
              "except KeyboardInterrupt:\n    print('stopped', flush=True)\n")
    target = tmp_path / "a.gguf"
    process = subprocess.Popen([sys.executable, "-c", script, large_path, target],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    # A machine that is done before the signal arrives has written the file.
    assert output == "stopped\n" or target.exists()


@pytest.mark.parametrize("work", [
    lambda model, numbers: ingot.hash(model),
    lambda model, numbers: ingot.quantize(numbers, "Q4_K", threads=1),
    lambda model, numbers: ingot.dequantize(numpy.zeros(210 << 16, numpy.uint8), "Q6_K", threads=1),
    lambda model, numbers: ingot.check(model, data=True),
], ids=["hash", "quantize", "dequantize", "check"])
def test_other_threads_run_during_the_work(large_path, work, turns_during):
    model, numbers = ingot.open(large_path), numpy.full((1024, 4096), 0.25, numpy.float32)
    assert turns_during(lambda: work(model, numbers)) > 2


def test_an_importance_matrix(shared, tmp_path):
    path = shared / "golden" / "eval" / "tiny-bytes.imatrix.dat"
    matrix = ingot.imatrix(path)
    name = next(iter(matrix))
    assert matrix[name].dtype == numpy.float32 and (matrix[name] >= 0).all()
    summary = matrix.summary(name)
    assert (summary["name"], summary["columns"], summary["experts"]) == (name, matrix[name].shape[1], 1)
    assert summary["max"] == matrix[name].max() and summary["tokens"] == max(matrix.counts(name))
    assert summary["mean"] == pytest.approx(matrix[name].mean())
    matrix.check()
    matrix.write(tmp_path / "m.gguf")
    again = ingot.imatrix(tmp_path / "m.gguf")
    assert list(again) == list(matrix)
    numpy.testing.assert_allclose(again[name], matrix[name], rtol=1e-6)
    with pytest.raises(KeyError):
        matrix["no such tensor"]


def test_what_is_no_importance_matrix(model_path):
    with pytest.raises(ingot.FormatError) as caught:
        ingot.imatrix(model_path)
    assert caught.value.code in ("imatrix_unknown", "imatrix_invalid")


def test_a_model_is_checked(root, model_path, corpus):
    findings = ingot.check(model_path, data=True)
    assert not [one for one in findings if one.severity == "error"]
    with ingot.open(model_path) as model:
        assert ingot.check(model) == ingot.check(model_path)
    broken = sorted((root / "tests" / "corpus" / "invalid").glob("key_duplicate*.gguf"))[0]
    assert [one.rule for one in ingot.check(broken)][0] == "key_duplicate"
    with pytest.raises(ingot.UsageError, match='there is no rule "no_such_rule"; check_rules'):
        ingot.check(broken, only=["key_duplicate", "no_such_rule"])


def test_a_model_is_repaired(corpus, tmp_path):
    target = tmp_path / "new.gguf"
    report = ingot.repair(corpus / "old_magic.gguf", target)
    assert report.written and report.steps and target.read_bytes()[:4] == b"GGUF"
    again = ingot.repair(target, tmp_path / "again.gguf")
    assert not again.steps and not again.written and again.lost_tensors == 0
    with pytest.deprecated_call():
        assert report.is_written


def test_digests_are_those_of_hashlib(model_path):
    digests = ingot.hash(model_path, ["sha256", "sha1"], uuid=True)
    content = model_path.read_bytes()
    assert digests.files[str(model_path)]["sha256"] == hashlib.sha256(content).hexdigest()
    with ingot.open(model_path) as model:
        for name, tensor in model.tensors.items():
            assert digests.tensors[name]["sha1"] == hashlib.sha1(tensor.data).hexdigest()
    assert len(digests.uuid) == 36
    manifest = f"{digests.files[str(model_path)]['sha256']}  {model_path.name}\n"
    assert ingot.verify(model_path, manifest) == []
    wrong = ingot.verify(model_path, manifest.replace(manifest[:4], "0000", 1))
    assert [(one.kind, one.problem) for one in wrong] == [("file", "differs")]
    with pytest.raises(ingot.UsageError):
        ingot.hash(model_path, ["crc32"])


def test_an_upload_of_known_bytes_has_nothing_new(model_path, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "again.gguf").write_bytes(model_path.read_bytes())
    plan = ingot.plan_upload([copy], [model_path])
    size = model_path.stat().st_size
    assert plan.total == {"size": size, "new": 0, "known": size, "repeated": 0}
    assert plan.files[0]["file"] == str(copy / "again.gguf") and plan.xorbs == []
    assert plan.files[0]["xet"] == ingot.hash(model_path, "xet").files[str(model_path)]["xet"]
    assert ingot.plan_upload([model_path]).total["known"] == 0


def test_models_are_compared(model_path, tmp_path, weights):
    other = tmp_path / "other.gguf"
    with ingot.open(model_path) as model, ingot.Writer(other) as writer:
        writer.copy_keys(model)
        writer["general.name"] = "Other"
        writer.add_tensor("token_embd.weight", weights + numpy.float32(0.5))
    found = ingot.diff(model_path, other)
    assert not found.same and found.same_key_order and found.keys == ["general.name"]
    assert set(found.tensors) == {"blk.0.ffn_down.weight", "output_norm.weight"}
    assert found.data[0][0] == "token_embd.weight"
    assert ingot.diff(model_path, model_path).same
    distance, = ingot.distances(model_path, other)
    assert distance.name == "token_embd.weight" and abs(distance.rmse - 0.5) < 1e-6
    for old, new in (("pairs", "count"), ("largest", "max")):
        with pytest.deprecated_call():
            assert getattr(distance, old) == getattr(distance, new)
    assert distance.count == distance.differing == weights.size


def test_statistics(model_path, weights):
    found = ingot.stats(model_path, ["token_embd.weight"], bins=16)["token_embd.weight"]
    assert found.finite == weights.size and found.min == weights.min() and found.max == weights.max()
    assert abs(found.mean - weights.mean(dtype=float)) < 1e-6
    assert abs(found.std - weights.std(dtype=float)) < 1e-6 and found.nan == found.inf == 0
    with pytest.deprecated_call():
        assert found.deviation == found.std
    assert len(found.histogram) == 16 and sum(found.histogram) == weights.size
    against = ingot.stats(model_path, reference=model_path)
    assert against["blk.0.ffn_down.weight"].error.rmse == 0


def test_memory_is_estimated(model_path):
    found = ingot.fit(model_path, ctx_size=64, device=["24G"])
    assert found["verdict"] == "fits" and found["context"] >= 64
    place, = found["devices"]
    assert place["total_bytes"] > 0 and place["fits"] and place["weights_read_bytes"] > 0
    assert found["advice"]["context"] >= 128 and found["tokens_per_second_bound"]["empty_cache"] is None
    for old, new in (("longest_context", "context"), ("most_gpu_layers", "gpu_layers")):
        with pytest.deprecated_call():
            assert found[old] == found.get(old) == found["advice"][new]
    assert found.get("no such fact", 1) == 1
    with pytest.raises(KeyError):
        found["no such fact"]
    with pytest.raises(ingot.UsageError):
        ingot.fit(model_path, device=["many"])
    with pytest.raises(TypeError):
        ingot.fit(model_path, contexts=3)
