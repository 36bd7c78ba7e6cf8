# SPDX-License-Identifier: MIT
"""Models at work: what the package gives is what its logits say."""
import os
import signal
import subprocess
import sys
import time

import hypothesis
import hypothesis.strategies as st
import numpy
import pytest

import ingot

WIDTH, INNER, LAYERS = 32, 48, 2
LETTERS = [chr(byte) for byte in range(33, 127)] + ["\u0120"]
TEXT = "the quick brown fox jumps over the lazy dog, and the dog sleeps on; " * 3


def write_network(path, noise=0.0, width=WIDTH, inner=INNER, layers=LAYERS, letters=LETTERS):
    """A random llama that reads letters; noise makes another one of it."""
    random, other = numpy.random.default_rng(3), numpy.random.default_rng(4)

    def matrix(rows, columns):
        weights = random.standard_normal((rows, columns), numpy.float32) * 2 / numpy.sqrt(columns)
        return (weights + noise * other.standard_normal((rows, columns))).astype(numpy.float32)

    with ingot.Writer(path) as writer:
        writer["general.architecture"] = "llama"
        for key, value in {"block_count": layers, "context_length": 64, "embedding_length": width,
                           "feed_forward_length": inner, "attention.head_count": 4,
                           "attention.head_count_kv": 2, "rope.dimension_count": width // 4,
                           "attention.layer_norm_rms_epsilon": 1e-5}.items():
            writer[f"llama.{key}"] = value
        writer["tokenizer.ggml.model"] = "gpt2"
        writer["tokenizer.ggml.pre"] = "default"
        writer["tokenizer.ggml.tokens"] = letters
        writer["tokenizer.ggml.merges"] = ["a b"]
        writer.add_tensor("token_embd.weight", matrix(len(letters), width))
        for layer in range(layers):
            for name, rows, columns in (
                    ("attn_q", width, width), ("attn_k", width // 2, width),
                    ("attn_v", width // 2, width), ("attn_output", width, width),
                    ("ffn_gate", inner, width), ("ffn_up", inner, width), ("ffn_down", width, inner)):
                writer.add_tensor(f"blk.{layer}.{name}.weight", matrix(rows, columns))
            for name in ("attn_norm", "ffn_norm"):
                writer.add_tensor(f"blk.{layer}.{name}.weight", numpy.ones(width, numpy.float32))
        writer.add_tensor("output_norm.weight", numpy.ones(width, numpy.float32))
    return path


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    return [write_network(folder / f"{noise}.gguf", noise) for noise in (0.0, 0.02, 0.05)]


def log_softmax(logits):
    logits = logits.astype(numpy.float64)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - numpy.log(numpy.exp(shifted).sum(axis=-1, keepdims=True))


def scored(log_probabilities):
    """The predictions that count: after the tokens from n/2 of each chunk to the last but one."""
    tokens = log_probabilities.shape[1]
    return log_probabilities[:, tokens // 2:tokens - 1]


@hypothesis.given(tokens=st.integers(8, 64), count=st.integers(1, 3), noises=st.sampled_from([(1,), (2, 1)]),
                  threads=st.integers(0, 2), seed=st.integers(0, 1000))
@hypothesis.settings(max_examples=12)
def test_figures_are_those_of_the_logits(networks, tokens, count, noises, threads, seed):
    ids = numpy.random.default_rng(seed).integers(0, len(LETTERS), (count, tokens))
    found = ingot.evaluate(networks[0], [networks[i] for i in noises], text=ids, threads=threads)
    base = log_softmax(ingot.compute_logits(networks[0], ids))
    assert base.shape == (count, tokens, len(LETTERS))
    following = ids[:, tokens // 2 + 1:, None]

    def losses(log_probabilities):
        return -numpy.take_along_axis(scored(log_probabilities), following, -1)[..., 0]

    assert (found.chunk_count, found.chunk_tokens) == ids.shape
    assert found.scored_tokens == losses(base).size
    numpy.testing.assert_allclose(found.base.chunk_losses, losses(base).mean(axis=1), rtol=1e-5)
    numpy.testing.assert_allclose(found.base.perplexity.mean, numpy.exp(losses(base).mean()), rtol=1e-5)
    for i, comparison in zip(noises, found.others):
        other = log_softmax(ingot.compute_logits(networks[i], ids))
        divergences = (numpy.exp(scored(base)) * (scored(base) - scored(other))).sum(axis=-1)
        numpy.testing.assert_allclose(comparison.chunk_kl, divergences.mean(axis=1), rtol=1e-3,
                                      atol=1e-6)
        numpy.testing.assert_allclose(comparison.sorted_divergences, numpy.sort(divergences, None),
                                      rtol=1e-2, atol=2e-6)
        log_ratio = losses(other).mean() - losses(base).mean()
        numpy.testing.assert_allclose(comparison.log_ratio.mean, log_ratio, atol=1e-5)
        numpy.testing.assert_allclose(comparison.perplexity_ratio.mean, numpy.exp(log_ratio), rtol=1e-4)
        assert comparison.kl_quantiles["max"] == comparison.quantile(1)
        assert comparison.kl_quantiles["5%"] == comparison.quantile(0.05)
        # The members that the class lists are those that the library describes.
        assert set(type(comparison).__annotations__) | {"_core", "_index", "sorted_divergences"} == set(
            vars(comparison))
        assert comparison.quantile(1) == comparison.sorted_divergences[-1]
    assert set(type(found).__annotations__) | {"_core"} == set(vars(found))


def test_a_model_does_not_diverge_from_itself(networks):
    text = ingot.chunks_of(networks[0], TEXT, ctx_size=16)
    assert text.dtype == numpy.int32 and text.shape == (len(TEXT) // 16, 16)
    with ingot.open(networks[0]) as model:
        found = ingot.evaluate(model, networks[:2], text=text)
    same, other = found.others
    assert same.kl == (0, 0) and same.same_top.mean == 1 and same.loss == found.base.loss
    assert other.kl.mean > 1e-4 and other.kl.error > 0
    difference = found.difference(1, 0)
    assert difference.mean == other.kl.mean
    for old, new in (("divergence", "kl"), ("chunk_divergences", "chunk_kl"), ("chunk_same_tops", "chunk_same_top")):
        with pytest.deprecated_call():
            assert getattr(other, old) is getattr(other, new)
    with pytest.deprecated_call():
        assert other.score.perplexity == other.perplexity
    with pytest.raises(IndexError):
        found.difference(0, 2)


def test_a_text_may_be_in_a_file(networks, tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    from_file = ingot.evaluate(networks[0], text=tmp_path / "a.txt", ctx_size=32, chunks=2)
    direct = ingot.evaluate(networks[0], text=TEXT.encode(), ctx_size=32, chunks=2)
    assert from_file.base.loss == direct.base.loss and from_file.chunk_count == 2


def test_vectors_of_a_text(networks, tmp_path):
    paths = []
    for path in networks[:2]:
        paths.append(tmp_path / path.name)
        with ingot.edit(path, paths[-1]) as keys:
            keys["llama.pooling_type"] = 1
    text = TEXT[:40]
    made = [ingot.compute_embeddings(path, text) for path in paths]
    assert {one.pooling for one in made} == {"mean"} and made[0].vectors.shape == (1, WIDTH)
    base, other = (one.vectors[0].astype(numpy.float64) for one in made)
    cosine = base @ other / numpy.sqrt((base @ base) * (other @ other))
    found = ingot.compare_embeddings(*paths, text=text)
    assert found["others"][0]["cosine_distance"] == pytest.approx(1 - cosine, abs=1e-6) and cosine < 1
    (tmp_path / "text").write_text(text)
    again = ingot.compare_embeddings(*paths, text=tmp_path / "text")
    assert again["others"][0]["cosine_distance"] == found["others"][0]["cosine_distance"]


def test_refusals_name_the_model_and_the_reason(networks, model_path, tmp_path):
    with pytest.raises(ingot.UsageError, match="a chunk needs 64") as caught:
        ingot.evaluate(networks[0], text="short")
    assert caught.value.code == "invalid_argument"
    narrow = write_network(tmp_path / "narrow.gguf", letters=LETTERS[:-1])
    with pytest.raises(ingot.Error, match='"token_embd.weight" in ".*narrow.gguf"') as caught:
        ingot.evaluate(networks[0], [networks[1], narrow], text=TEXT, ctx_size=16)
    assert caught.value.subject == "token_embd.weight"
    with pytest.raises(ingot.Error, match="small.gguf") as caught:
        ingot.evaluate(networks[0], model_path, text=TEXT, ctx_size=16)
    with pytest.raises(ingot.Error) as caught:
        ingot.compute_logits(networks[0], [[10000] * 8])
    assert caught.value.code == "index_out_of_range"
    with pytest.raises(ingot.FormatError) as caught:
        ingot.compute_logits(networks[0], TEXT, ctx_size=16, max_memory=1000)
    assert caught.value.code == "limit_exceeded"
    with pytest.raises(TypeError):
        ingot.compute_logits(networks[0], [[0.5] * 8])


def test_importances_are_sums_of_squares_of_inputs(networks, tmp_path):
    seen = []
    matrix = ingot.collect_importance(networks[0], TEXT, ctx_size=16, dataset="a.txt",
                                      progress=lambda done, total: seen.append((done, total)))
    chunks = len(TEXT) // 16
    assert seen[-1] == (chunks * LAYERS,) * 2
    assert len(matrix) == 7 * LAYERS and matrix.datasets == ["a.txt"]
    assert (matrix.chunk_count, matrix.chunk_size) == (chunks, 16)
    assert matrix["blk.1.ffn_down.weight"].shape == (1, INNER)
    # The input of the first matrices is normalized: the mean of its squares is 1.
    assert abs(matrix["blk.0.attn_q.weight"].mean() - 1) < 1e-3
    matrix.write(tmp_path / "a.gguf")
    numpy.testing.assert_array_equal(ingot.imatrix(tmp_path / "a.gguf")["blk.1.ffn_down.weight"],
                                     matrix["blk.1.ffn_down.weight"])


def test_second_moments_lower_the_error_of_outputs(networks, tmp_path):
    ids = ingot.chunks_of(networks[0], TEXT, ctx_size=16)
    matrix = ingot.collect_importance(networks[0], ids, moments=32)
    fed_back, searched = (
        {error.name: error for error in ingot.quantize_model(
            networks[0], tmp_path / f"{feedback}.gguf", "Q4_0", tensor_type={"ffn_down": "F16"}, imatrix=matrix,
            effort="best", feedback=feedback)}
        for feedback in (True, False))
    known = [name for name, error in searched.items() if error.output is not None]
    assert known and set(known) <= set(matrix)
    assert sum(fed_back[name].output for name in known) < 0.9 * sum(searched[name].output for name in known)


def test_second_moments_are_means_of_products_of_inputs(networks, tmp_path):
    ids = ingot.chunks_of(networks[0], TEXT, ctx_size=16)
    matrix = ingot.collect_importance(networks[0], ids, moments=20)
    name = "blk.0.attn_q.weight"
    with ingot.open(networks[0]) as model:
        states = model.tensors["token_embd.weight"].numpy()[ids.ravel()].astype(numpy.float64)
    # What the first matrices get: normalized embeddings, whose norm has weights of 1.
    inputs = states / numpy.sqrt((states ** 2).mean(axis=1, keepdims=True) + 1e-5)
    expected = inputs.T @ inputs / len(inputs)
    assert matrix.moment_columns(name) == 20
    numpy.testing.assert_allclose(matrix.moments(name), expected[:20, :20], rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(matrix.moments(name, block=1), expected[20:, 20:], rtol=1e-4, atol=1e-5)
    assert matrix.moments(name).dtype == numpy.float32
    matrix.write(tmp_path / "a.gguf")
    numpy.testing.assert_array_equal(ingot.imatrix(tmp_path / "a.gguf").moments(name), matrix.moments(name))
    without = ingot.collect_importance(networks[0], ids)
    assert without.moment_columns(name) == 0
    for call in (lambda: matrix.moments(name, block=2), lambda: matrix.moments(name, block=2 ** 60),
                 lambda: matrix.moments(name, expert=1), lambda: without.moments(name)):
        with pytest.raises(ingot.UsageError) as caught:
            call()
        assert caught.value.code == "index_out_of_range"
    with pytest.raises(KeyError):
        matrix.moments("no such tensor")
    with pytest.raises(ingot.UsageError):
        ingot.collect_importance(networks[0], ids, moments=5000)


# Rows of WIDTH weights are whole blocks of Q4_0; those of INNER are not.
MEASURED = ["token_embd.weight"] + [
    f"blk.{layer}.{name}.weight" for layer in range(LAYERS)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up")]


def test_sensitivities_are_divergences_of_single_tensors(networks, tmp_path):
    text = ingot.chunks_of(networks[0], TEXT, ctx_size=16)
    seen = []
    found = ingot.measure_sensitivities(networks[0], text,
                                        progress=lambda done, total: seen.append((done, total)))
    assert [one.name for one in found] == MEASURED and seen[-1][0] == seen[-1][1]
    one = found[MEASURED.index("blk.1.attn_v.weight")]
    with ingot.open(networks[0]) as model, ingot.Writer(tmp_path / "a.gguf") as writer:
        writer.copy_keys(model)
        for name, tensor in model.tensors.items():
            writer.add_tensor(name, tensor.numpy(), "Q4_0" if name == one.name else "F32")
        source = model.tensors[one.name].numpy()
    other = ingot.evaluate(networks[0], tmp_path / "a.gguf", text=text).others[0]
    numpy.testing.assert_allclose([one.kl, one.kl_error], other.kl, rtol=1e-4)
    with ingot.open(tmp_path / "a.gguf") as model:
        error = model.tensors[one.name].dequantize() - source
    numpy.testing.assert_allclose(one.relative_error, (error ** 2).sum() / (source ** 2).sum(), rtol=1e-4)
    with pytest.warns(DeprecationWarning, match="kl_error"):
        assert one.divergence_error == one.kl_error
    assert one.weighted_error == 0 and one.alpha() == one.kl / one.relative_error


def test_sensitivities_with_an_importance_matrix(networks, tmp_path):
    matrix = ingot.collect_importance(networks[0], TEXT, ctx_size=16)
    matrix.write(tmp_path / "a.gguf")
    by_path, by_matrix = (
        ingot.measure_sensitivities(networks[0], TEXT, ctx_size=16, chunks=2, imatrix=one)
        for one in (tmp_path / "a.gguf", matrix))
    assert by_path == by_matrix
    one = by_matrix[1]
    assert one.weighted_error > 0
    assert one.alpha() == one.kl / one.weighted_error
    assert one.alpha(weighted=False) == one.kl / one.relative_error
    other = ingot.collect_importance(write_network(tmp_path / "wide.gguf", width=64), TEXT, ctx_size=16)
    with pytest.raises(ingot.UsageError) as caught:
        ingot.measure_sensitivities(networks[0], TEXT, ctx_size=16, imatrix=other)
    assert caught.value.code == "imatrix_mismatch"


def test_measuring_goes_on_where_it_was_stopped(networks):
    options = {"ctx_size": 16, "chunks": 4}
    whole = ingot.measure_sensitivities(networks[0], TEXT, **options)
    found = []

    def stop(one):
        found.append(one)
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        ingot.measure_sensitivities(networks[0], TEXT, measured=stop, **options)
    assert found[0] == whole[0]
    known = [one.name for one in found]
    rest = ingot.measure_sensitivities(networks[0], TEXT, known=known, measured=found.append, **options)
    assert rest == [one for one in whole if one.name not in known]
    assert sorted(found) == sorted(whole)


def test_ctrl_c_loses_no_measurement(networks):
    options = {"ctx_size": 16, "chunks": 4}
    whole, found = ingot.measure_sensitivities(networks[0], TEXT, **options), []

    def interrupt(done, total):
        if done == total:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ingot.measure_sensitivities(networks[0], TEXT, measured=found.append, progress=interrupt, **options)
    assert found == whole


def test_types_are_chosen_by_sensitivities(networks):
    def bytes_of(sensitive):
        found = [ingot.TensorSensitivity(name, 1.0 if name == sensitive else 1e-6, 0.0, 0.01)
                 for name in MEASURED]
        plan = ingot.plan_quantization(networks[0], target_bpw=9, sensitivity=found)
        return {tensor.name: tensor.bytes for tensor in plan.tensors}

    up, gate = (bytes_of(f"blk.0.{name}.weight") for name in ("ffn_up", "ffn_gate"))
    assert up["blk.0.ffn_up.weight"] > gate["blk.0.ffn_up.weight"]
    assert up["blk.0.ffn_gate.weight"] < gate["blk.0.ffn_gate.weight"]


def test_sensitivities_that_make_no_sense_are_refused(networks, tmp_path):
    one = ingot.TensorSensitivity("blk.0.ffn_up.weight", 0.1, 0.0, 0.01)
    for wrong in ({"kl": -1.0}, {"kl": float("nan")}, {"relative_error": 0.0},
                  {"weighted_error": float("inf")}):
        with pytest.raises(ingot.UsageError) as caught:
            ingot.plan_quantization(networks[0], target_bpw=6.5, sensitivity=[one._replace(**wrong)])
        assert caught.value.code == "invalid_argument" and caught.value.subject == one.name
    with pytest.raises(TypeError, match="sensitivities"):
        ingot.plan_quantization(networks[0], target_bpw=6.5, sensitivity=["many"])
    with pytest.raises(TypeError, match="target_bpw"):
        ingot.quantize_model(networks[0], tmp_path / "a.gguf", "Q8_0", sensitivity=[one])


@pytest.mark.skipif(os.environ.get("INGOT_INSTRUMENTED", "0") != "0", reason="51,200 tokens take ten minutes")
def test_an_importance_matrix_of_llama_cpp(shared):
    folder = shared / "golden" / "eval"
    text = ingot.chunks_of(folder / "tiny-bytes-f32.gguf", folder / "tiny-bytes-calibration.txt",
                           ctx_size=128, chunks=400)
    matrix = ingot.collect_importance(folder / "tiny-bytes-f32.gguf", text)
    reference = ingot.imatrix(folder / "tiny-bytes.imatrix.dat")
    for name, weights in reference.items():
        numpy.testing.assert_allclose(matrix[name], weights, rtol=1e-4)


@pytest.fixture(scope="module")
def slow_path(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("slow") / "slow.gguf", width=256, inner=1024, layers=4)


def test_progress_can_stop_the_work(slow_path):
    def stop(done, total):
        raise StopIteration(f"at {total}")

    with pytest.raises(StopIteration, match="at "):
        ingot.evaluate(slow_path, text=TEXT * 50, ctx_size=64, threads=1, progress=stop)


@pytest.mark.parametrize("work", [
    lambda model, text: ingot.evaluate(model, text=text, threads=1),
    lambda model, text: ingot.collect_importance(model, text, threads=1),
    lambda model, text: ingot.measure_sensitivities(
        model, text, known=set(model.tensors) - {"token_embd.weight"}, threads=1),
], ids=["evaluate", "collect_importance", "measure_sensitivities"])
def test_other_threads_run_during_the_work(slow_path, work, turns_during):
    model = ingot.open(slow_path)
    text = ingot.chunks_of(model, TEXT, ctx_size=64, chunks=1)
    assert turns_during(lambda: work(model, text)) > 2


def test_ctrl_c_stops_the_work(slow_path):
    script = ("import sys, ingot\nprint('begin', flush=True)\n"
              "try:\n    ingot.evaluate(sys.argv[1], text='some text ' * 200000, ctx_size=64)\n"
              "    print('complete')\n"
              "except KeyboardInterrupt:\n    print('stopped')\n")
    process = subprocess.Popen([sys.executable, "-c", script, slow_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "stopped\n"
