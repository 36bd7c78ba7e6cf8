# SPDX-License-Identifier: MIT
"""Models at work on texts: predictions compared, logits, importances, sensitivities."""
from __future__ import annotations

import math
import os
from contextlib import contextmanager
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional,
                    Sequence, Union)

import numpy as np

from . import _core
from ._errors import Error, name_path, usage_error
from ._facts import as_row, as_rows, chosen, old_names, old_options, warn_of_old_name
from ._model import Model
from ._quantizing import ImportanceMatrix, TensorSensitivity, opened_importance
from ._work import AnyModel, Path, opened, words

__all__ = ["Embeddings", "Evaluation", "MeanEstimate", "ModelComparison", "ModelScore", "chunks_of",
           "collect_importance", "compare_embeddings", "compute_embeddings", "compute_logits", "evaluate",
           "measure_sensitivities"]

Array = np.ndarray[Any, Any]
# A text, a file of it, or ids as of `chunks_of`.
Text = Union[str, bytes, "os.PathLike[str]", Sequence[Sequence[int]], Array]
# Gets the layers of chunks that are done, and all of them.
LayerProgress = Optional[Callable[[int, int], Any]]

_MEMORY = 16 << 30
_MAX_TEXT_BYTES = 256 << 20  # as the program has it


class MeanEstimate(NamedTuple):
    """A mean over tokens, and its standard error from the spread of the means of chunks: NaN for a
    single chunk."""

    mean: float
    error: float


class Embeddings(NamedTuple):
    """Vectors of the chunks of a text, an array of float32 of shape (chunks, size), and how the states of
    tokens became one: "mean", "first", "last", "rank"; "none", where each token has its own."""

    vectors: Array
    pooling: str


class ModelScore(NamedTuple):
    """The quality of a model's predictions of the text: `loss` in nats per token, `perplexity` with
    its standard error, and the mean loss of each chunk, an array of shape (chunks,)."""

    loss: MeanEstimate
    perplexity: MeanEstimate
    chunk_losses: Array


@old_names(divergence="kl", chunk_divergences="chunk_kl", chunk_same_tops="chunk_same_top")
class ModelComparison:
    """The predictions of a model beside those of the base. Members are those of ``ingot evaluate
    --json``, which docs/json.md explains, each mean with its error as one; and `sorted_divergences`
    of all scored tokens, an array of float32."""

    loss: MeanEstimate
    perplexity: MeanEstimate
    chunk_losses: Array
    perplexity_ratio: MeanEstimate
    log_ratio: MeanEstimate
    kl: MeanEstimate
    same_top: MeanEstimate
    kl_quantiles: Dict[str, float]
    chunk_kl: Array
    chunk_same_top: Array

    def __init__(self, core: _core.Evaluation, index: int, facts: Mapping[str, Any]) -> None:
        self._core = core
        self._index = index
        self.__dict__.update(_with_estimates(facts))
        self.sorted_divergences: Array = core.sorted_divergences(index)

    @property
    def score(self) -> ModelScore:
        """The old place of `loss`, `perplexity` and `chunk_losses`."""
        warn_of_old_name("score", "loss, perplexity and chunk_losses")
        return ModelScore(self.loss, self.perplexity, self.chunk_losses)

    def quantile(self, share: float) -> float:
        """The divergence that a share of the tokens, from 0 to 1, does not exceed."""
        return self._core.quantile(self._index, share)

    def __repr__(self) -> str:
        return (f"<ingot.ModelComparison: KL {self.kl.mean:.6f} +/- {self.kl.error:.6f}, "
                f"perplexity {self.perplexity.mean:.4f}>")


class Evaluation:
    """The result of `evaluate`. Members are those of ``ingot evaluate --json``; `others` are in the
    order of the models."""

    chunk_count: int
    chunk_tokens: int
    scored_tokens: int
    base: ModelScore
    others: List[ModelComparison]

    def __init__(self, core: _core.Evaluation) -> None:
        self._core = core
        facts = core.facts()
        self.__dict__.update(facts)
        self.base = as_row(ModelScore, _with_estimates(facts["base"]))
        self.others = [ModelComparison(core, i, one) for i, one in enumerate(facts["others"])]

    def difference(self, a: int, b: int) -> MeanEstimate:
        """The divergence of ``others[a]`` less that of ``others[b]``, chunk by chunk: far more precise
        than the difference of the two means, because both models see the same text."""
        return MeanEstimate(*self._core.difference(a, b))

    def __repr__(self) -> str:
        return (f"<ingot.Evaluation: {len(self.others)} compared, {self.scored_tokens:,} tokens, "
                f"perplexity {self.base.perplexity.mean:.4f}>")


def _with_estimates(facts: Mapping[str, Any]) -> Dict[str, Any]:
    """Facts in which each ``NAME`` and ``NAME_error`` are one."""
    joined = {name: value for name, value in facts.items() if not name.endswith("_error")}
    for name in joined:
        if f"{name}_error" in facts:
            error = facts[f"{name}_error"]
            joined[name] = MeanEstimate(facts[name], math.nan if error is None else error)
    return joined


@contextmanager
def _about_models(models: Sequence[Model]) -> Iterator[None]:
    """A block whose errors name the file of the model that they are of: the library names it in the
    context of the others'."""
    try:
        yield
    except Error as error:
        if not error.context:
            name_path(error, models[0].paths[0])
        raise


@old_options(chunk_tokens="ctx_size", max_chunks="chunks")
def chunks_of(model: AnyModel, text: Union[str, bytes, "os.PathLike[str]"], *,
              ctx_size: int = 0, chunks: int = 0) -> Array:
    """Encode a text with the tokenizer of a model, and cut it into chunks.

    Parameters
    ----------
    model : Model, or what `ingot.open` takes
    text : str, bytes or os.PathLike
        The text, or a `pathlib.Path` of a file of it.
    ctx_size : int
        From 8; 0: the smaller of 512 and the context of the model.
    chunks : int
        0: all. The rest that fills no chunk is dropped.

    Returns
    -------
    array of int32, shape (chunks, tokens)
        Where the model wants a bos before every text, the first token of each chunk is one.

    Raises
    ------
    ingot.UsageError
        ``invalid_argument`` if the text is shorter than a chunk, or a file has more than 256 MiB.
    """
    return _core.chunks_of(opened(model)._core, _content_of(text), ctx_size, chunks)


def _content_of(text: Union[str, bytes, "os.PathLike[str]"]) -> Union[str, bytes]:
    if not isinstance(text, os.PathLike):
        return text
    with open(text, "rb") as file:
        content = file.read(_MAX_TEXT_BYTES + 1)
    if len(content) > _MAX_TEXT_BYTES:
        raise usage_error("invalid_argument", "a text has at most 256 MiB", os.fspath(text))
    return content


def _ids_of(model: Model, text: Text, ctx_size: int, chunks: int) -> Array:
    if isinstance(text, (str, bytes, os.PathLike)):
        return chunks_of(model, text, ctx_size=ctx_size, chunks=chunks)
    ids = np.atleast_2d(np.asarray(text))
    if ids.dtype.kind not in "iu":
        raise TypeError(f"ids of tokens are integers, not {ids.dtype}")
    return np.ascontiguousarray(ids, np.int32)


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory")
def evaluate(base: AnyModel, others: Union[AnyModel, Sequence[AnyModel]] = (), *, text: Text,
             ctx_size: int = 0, chunks: int = 0, rounds_cache: bool = False,
             max_memory: int = _MEMORY, threads: int = 0,
             progress: LayerProgress = None) -> Evaluation:
    """Run models on a text, and compare what they predict.

    The forward pass runs in float32 on the CPU, from weights of any type; a model may be larger than
    memory. All figures count the second half of each chunk, where tokens have enough text before
    them. docs/evaluate.md lists the architectures.

    Parameters
    ----------
    base : Model, or what `ingot.open` takes
        Usually the original.
    others : model, or list or tuple of models
        Of the same vocabulary. Without any, perplexity alone is computed.
    text : str, bytes, os.PathLike, or ids
        As of `chunks_of`, or its result.
    ctx_size, chunks : int
        As of `chunks_of`.
    rounds_cache : bool
        Round keys and values to float16, as engines usually keep them.
    max_memory : int
        Of activations.
    progress : callable, optional
        Called as ``progress(done, total)``, in layers of chunks.

    Returns
    -------
    Evaluation

    Raises
    ------
    ingot.FormatError
        ``network_unsupported`` for an architecture that is unknown, ``network_invalid`` for keys and
        tensors that contradict one another, ``weight_not_finite``, ``limit_exceeded``.
    ingot.UsageError
        ``invalid_argument`` for vocabularies of different sizes; ``tensor_not_found``.

    Examples
    --------
    >>> found = ingot.evaluate("F16.gguf", ["Q4_K_M.gguf"], text=pathlib.Path("wiki.txt"))
    >>> found.others[0].kl.mean, found.others[0].quantile(0.99)
    """
    models = [opened(base)]
    models += [opened(one) for one in (others if isinstance(others, (list, tuple)) else [others])]
    with _about_models(models):
        ids = _ids_of(models[0], text, ctx_size, chunks)
        return Evaluation(_core.evaluate(models[0]._core, [one._core for one in models[1:]], ids,
                                         chosen("evaluate", locals()), progress))


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory")
def compute_logits(model: AnyModel, text: Text, *, ctx_size: int = 0, chunks: int = 0,
                   rounds_cache: bool = False, max_memory: int = _MEMORY, threads: int = 0,
                   progress: LayerProgress = None) -> Array:
    """The logits of all tokens of a text. Parameters and errors are those of `evaluate`; the result
    counts as memory.

    Returns
    -------
    array of float32, shape (chunks, tokens, vocabulary)
        What the model predicts after each token.
    """
    source = opened(model)
    with _about_models([source]):
        ids = _ids_of(source, text, ctx_size, chunks)
        return _core.compute_logits(source._core, ids, chosen("evaluate", locals()), progress)


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory")
def compute_embeddings(model: AnyModel, text: Union[str, bytes, "os.PathLike[str]"], *,
                       ctx_size: int = 0, chunks: int = 0, rounds_cache: bool = False,
                       max_memory: int = _MEMORY, threads: int = 0,
                       progress: LayerProgress = None) -> Embeddings:
    """The vectors that a model makes of a text: of an encoder, or of a model that says how the states of
    tokens become one vector. They are not normalised.

    Parameters
    ----------
    text : str, bytes or os.PathLike
        One that fits the context is one chunk, with the tokens that the tokenizer adds to every text.
    ctx_size : int
        Tokens that a chunk has at most; default: the context, and for a longer text the smaller of 512
        and that.

    The others, and errors, are those of `evaluate`.
    """
    source = opened(model)
    with _about_models([source]):
        values, pooling = _core.compute_embeddings(
            source._core, _content_of(text), ctx_size, chunks, chosen("evaluate", locals()), progress)
    return Embeddings(values, pooling)


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory")
def compare_embeddings(base: AnyModel, others: Union[AnyModel, Sequence[AnyModel]], *,
                       text: Union[str, bytes, "os.PathLike[str]"], ctx_size: int = 0,
                       chunks: int = 0, rounds_cache: bool = False, max_memory: int = _MEMORY,
                       threads: int = 0, progress: LayerProgress = None) -> Dict[str, Any]:
    """Compare the vectors that models make of a text with those of a base.

    Parameters are those of `compute_embeddings` and `evaluate`. The result has the members of ``ingot
    evaluate --json`` for such models, which docs/json.md lists: of each of ``others`` the mean
    ``cosine_distance``, 1 less the cosine of the two vectors of a chunk, and how alike neighbours are.
    """
    models = [opened(base)]
    models += [opened(one) for one in (others if isinstance(others, (list, tuple)) else [others])]
    with _about_models(models):
        return _core.compare_embeddings(
            models[0]._core, [one._core for one in models[1:]], _content_of(text), ctx_size, chunks,
            chosen("evaluate", locals()), progress)


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory",
             includes_output="process_output", moment_columns="moments")
def collect_importance(model: AnyModel, text: Text, *, ctx_size: int = 0, chunks: int = 0,
                       dataset: str = "", process_output: bool = False, moments: int = 0,
                       exact_sums: bool = False, rounds_cache: bool = True,
                       max_memory: int = _MEMORY, threads: int = 0,
                       progress: LayerProgress = None) -> ImportanceMatrix:
    """Collect how much each column of the matrices of a model matters, for `quantize_model`.

    Parameters are those of `evaluate`, and:

    Parameters
    ----------
    dataset : str
        The name of the text, for the file.
    process_output : bool
        The output matrix, too; llama.cpp leaves it out.
    moments : int
        Also second moments, in blocks of so many columns, up to 4096: `ImportanceMatrix.moments`.
        They take 4 bytes for each column of a matrix, times this, and count as memory.
    exact_sums : bool
        Sums that are exact, and are kept, so that those of parts of a text add up to those of the
        whole, to the bit. Without it, they run in float32 as llama.cpp's do.

    Returns
    -------
    ImportanceMatrix
        With ``write(path)``.
    """
    source = opened(model)
    with _about_models([source]):
        ids = _ids_of(source, text, ctx_size, chunks)
        options = chosen("collect_importance", locals())
        return ImportanceMatrix(_core.collect_importance(source._core, ids, options, progress), dataset)


@old_options(chunk_tokens="ctx_size", max_chunks="chunks", max_memory_bytes="max_memory", importance="imatrix")
def measure_sensitivities(model: AnyModel, text: Text, *, ctx_size: int = 0, chunks: int = 0,
                          imatrix: Union[ImportanceMatrix, Path, None] = None,
                          known: Iterable[str] = (),
                          measured: Optional[Callable[[TensorSensitivity], Any]] = None,
                          rounds_cache: bool = False, max_memory: int = _MEMORY,
                          threads: int = 0, progress: LayerProgress = None) -> List[TensorSensitivity]:
    """Measure how much the error of each matrix of a model matters, for `quantize_model` with a target.

    One matrix at a time is quantized, to Q2_K or, where its rows are not whole blocks of that, Q4_0,
    and the predictions are compared with those of the model as it is. Routers, norms and matrices
    whose rows fit neither type are left out. Parameters are those of `evaluate`, and:

    Parameters
    ----------
    imatrix : ImportanceMatrix or path, optional
        For encoding, and for weighted errors.
    known : iterable of str
        Names of tensors that are not measured.
    measured : callable, optional
        Called with each measurement soon after it is made, on the calling thread; also with those that
        were made before the work was stopped.

    Returns
    -------
    list of TensorSensitivity
        In the order of the network, without those that are known.

    Raises
    ------
    ingot.Error
        As `evaluate`, and ``imatrix_mismatch`` for an importance matrix of another model.

    Examples
    --------
    Ctrl-C loses nothing; the last call goes on with what is missing:

    >>> found = []
    >>> ingot.measure_sensitivities("F16.gguf", text, known=[one.name for one in found],
    ...                             measured=found.append)
    >>> ingot.quantize_model("F16.gguf", "small.gguf", target_bpw=3.5, sensitivity=found)
    """
    source = opened(model)
    matrix = opened_importance(imatrix)
    listener = None if measured is None else lambda row: measured(as_row(TensorSensitivity, row))
    with _about_models([source]):
        ids = _ids_of(source, text, ctx_size, chunks)
        rows = _core.measure_sensitivities(source._core, ids, matrix._core if matrix else None,
                                           words(known), chosen("evaluate", locals()), listener,
                                           progress)
    return as_rows(TensorSensitivity, rows)
