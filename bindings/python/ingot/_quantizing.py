# SPDX-License-Identifier: MIT
"""Quantizing whole models, and importance matrices."""
from __future__ import annotations

import math
import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import about
from ._facts import as_rows, chosen, in_numpy_order, old_names, old_options, warn_of_old_name
from ._importing import opened_or_imported
from ._work import AnyModel, Path, Progress

__all__ = ["ImportanceMatrix", "PlannedTensor", "QuantizePlan", "TensorError", "imatrix",
           "TensorSensitivity", "plan_quantization", "quantize_model", "quantize_together"]


class ImportanceMatrix(Mapping[str, "np.ndarray[Any, Any]"]):
    """Importance data of one or several files, or of a run, made by `ingot.imatrix` and
    `ingot.collect_importance`: a mapping from names of weight tensors to arrays of float32 of shape
    (experts, columns), ready for `ingot.quantize`."""

    def __init__(self, core: _core.ImportanceMatrix, name: str) -> None:
        self._core = core
        self.name = name

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self._core.weights(name)

    def __iter__(self) -> Any:
        return iter([entry["name"] for entry in self._core.entries()])

    def __len__(self) -> int:
        return len(self._core.entries())

    def __repr__(self) -> str:
        return f"<ingot.ImportanceMatrix {self.name!r}: {len(self)} tensors>"

    def counts(self, name: str) -> List[float]:
        """How many tokens each expert has seen."""
        return self._core.counts(name)

    def summary(self, name: str) -> Dict[str, Any]:
        """The data of a tensor at a glance, as an entry of ``ingot imatrix show --json``, which
        docs/json.md lists."""
        return self._core.summary(name)

    def moment_columns(self, name: str) -> int:
        """How many columns a block of second moments of a tensor has; 0 if there are none."""
        return self._core.moment_columns(name)

    def moments(self, name: str, expert: int = 0, block: int = 0) -> np.ndarray[Any, Any]:
        """Second moments of the inputs of a tensor: how they go together, where the importance of a
        column is only the diagonal.

        Parameters
        ----------
        expert : int
            From 0.
        block : int
            From 0; its first column is ``block * moment_columns(name)``.

        Returns
        -------
        array of float32, shape (columns, columns)
            Means of products of the columns of the block. The last block may have fewer columns than
            the others. An expert that was never used gets the identity.

        Raises
        ------
        KeyError
            For a tensor that the matrix lacks.
        ingot.UsageError
            ``index_out_of_range`` for an expert or a block that is not there, and for all if there
            are no moments.
        """
        return self._core.moments(name, expert, block)

    @property
    def datasets(self) -> List[str]:
        return self._core.datasets()

    @property
    def chunk_count(self) -> int:
        return self._core.chunk_count()

    @property
    def chunk_size(self) -> int:
        return self._core.chunk_size()

    def check(self) -> None:
        """Reads everything once. Raises FormatError ``imatrix_invalid`` for a value that is
        negative, NaN or infinite."""
        self._core.check()

    @old_options(replace="force")
    def write(self, path: Path, *, format: str = "gguf", force: bool = False) -> None:
        """Writes all as one file; `format` is "gguf" or "legacy"."""
        with about(path):
            self._core.write(os.fspath(path), format, force)


def imatrix(*paths: Path) -> ImportanceMatrix:
    """Open importance matrices, in GGUF or the older .dat, and combine them as if all had been
    collected in one run."""
    if not paths:
        raise TypeError("the path of an importance matrix is needed")
    with about(paths[0]):
        core = _core.ImportanceMatrix(os.fspath(paths[0]))
    for path in paths[1:]:
        with about(path):
            core.merge(os.fspath(path))
    return ImportanceMatrix(core, os.path.basename(os.fspath(paths[0])))


def opened_importance(importance: Union[ImportanceMatrix, Path, None]) -> Optional[ImportanceMatrix]:
    """The matrix itself, or that of a file."""
    if importance is None or isinstance(importance, ImportanceMatrix):
        return importance
    return imatrix(importance)


@old_names(source_type="from_", type="to", nbytes="bytes")
class PlannedTensor(NamedTuple):
    """The plan of one tensor. `shape` is in NumPy's order; `reason` is one of the words that
    docs/json.md lists, `explanation` the same for people. `lattice` has the members `bits`, `group`,
    `minimum` and `text`, or is None."""

    name: str
    from_: str
    to: str
    bytes: int
    explanation: str
    reason: str
    shape: Tuple[int, ...]
    bytes_before: int
    importance: bool
    feedback: bool
    lattice: Optional[Dict[str, Any]]
    searched: bool


@old_names(elements="count")
class TensorError(NamedTuple):
    """How far a tensor is from its source; `relative` is the root of error over signal, and `slope`
    how much of the source the result is, in its direction: below 1 it is shorter. Both are weighted by
    the importance of columns where that is known (`weighted`). `output` is the root of error over
    signal of what the tensor makes of its inputs: None unless the importance matrix has second moments
    of them. Of a tensor that is copied, `count` is 0."""

    name: str
    count: int  # type: ignore[assignment]  # of tuple, which a name like that of the JSON hides
    rmse: float
    relative: float
    slope: float
    output: Optional[float]
    sqnr_db: float
    max: float
    weighted: bool
    squared_error: float
    squared_signal: float


@old_names(divergence="kl")
class TensorSensitivity(NamedTuple):
    """What it costs to quantize one tensor alone, found by `ingot.measure_sensitivities`.

    Attributes
    ----------
    name : str
    kl : float
        Divergence from the model as it is, nats per token.
    kl_error : float, optional
        Its standard error; None of a single chunk.
    relative_error : float
        Of the tensor in this measurement: the sum of squares over that of the weights; above 0.
    weighted_error : float
        The same, each square times the importance of its column; 0 where that is unknown.
    """

    name: str
    kl: float
    kl_error: Optional[float]
    relative_error: float
    weighted_error: float = 0.0

    @property
    def divergence_error(self) -> float:
        """The old name of `kl_error`, NaN for None."""
        warn_of_old_name("divergence_error", "kl_error")
        return math.nan if self.kl_error is None else self.kl_error

    def alpha(self, weighted: bool = True) -> float:
        """`kl` for a relative error of 1, which is weighted if asked for and known."""
        return _core.alpha(self, weighted)


@old_names(nbytes="bytes")
class QuantizePlan:
    """What `quantize_model` would do; `write` does it. Members are those of ``ingot quantize --dry-run
    --json``, which docs/json.md lists."""

    file_type: Optional[int]
    elements: int
    bytes_before: int
    bytes: int
    bits_per_weight: float
    target: Optional[Dict[str, float]]

    def __init__(self, core: _core.QuantizeJob) -> None:
        self._core = core
        self.__dict__.update(core.facts())

    def __repr__(self) -> str:
        return f"<ingot.QuantizePlan: {self.bytes:,} bytes, {self.bits_per_weight:.2f} bits per weight>"

    @property
    def tensors(self) -> List[PlannedTensor]:
        return in_numpy_order(as_rows(PlannedTensor, self._core.tensors()))

    @old_options(replace="force")
    def write(self, path: Union[Path, Sequence[Path]], *, force: bool = False,
              progress: Progress = None) -> List[TensorError]:
        """Writes the model, atomically; with ``keep_split`` a path for each shard."""
        paths = _paths(path)
        with about(paths[0] if paths else ""):
            return as_rows(TensorError, self._core.write(paths, force, progress))


def _paths(path: Union[Path, Sequence[Path]]) -> List[str]:
    if isinstance(path, (str, os.PathLike)):
        return [os.fspath(path)]
    return [os.fspath(one) for one in path]


_OLD_OPTIONS = {
    "bits_per_weight": "target_bpw", "file_bytes": "target_size", "sensitivities": "sensitivity",
    "importance": "imatrix", "leave_output": "leave_output_tensor", "output_type": "output_tensor_type",
    "patterns": "tensor_type", "keep_shards": "keep_split"}


@old_options(**_OLD_OPTIONS)
def plan_quantization(source: AnyModel, recipe: Optional[str] = None, *,
                      target_bpw: Optional[float] = None, target_size: Optional[int] = None,
                      sensitivity: Optional[Iterable[TensorSensitivity]] = None,
                      imatrix: Union[ImportanceMatrix, Path, None] = None, pure: bool = False,
                      leave_output_tensor: bool = False, output_tensor_type: Optional[str] = None,
                      token_embedding_type: Optional[str] = None,
                      tensor_type: Optional[Mapping[str, str]] = None, keep_split: bool = False,
                      allow_requantize: bool = False, allow_nan: bool = False,
                      pre: Optional[str] = None, effort: str = "auto", feedback: bool = True,
                      threads: int = 0, max_memory: int = 0, resume: bool = False,
                      progress: Progress = None) -> QuantizePlan:
    """Choose the types of a quantized model, and check all that can be checked before the work.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes, or a folder of a Hugging Face model
        A folder is imported while it is read, with the weights in their own type.
    recipe : str, optional
        A named mixture such as ``"Q4_K_M"``; `ingot.recipes` lists them. Without one:
    target_bpw, target_size : optional
        A target; types are chosen so that the error is least among all choices that fit.
    sensitivity : iterable of TensorSensitivity, optional
        For a target: what the error of each tensor costs. Tensors that are not among them count as
        the median of those that are.
    imatrix : ImportanceMatrix or path, optional
    pure, leave_output_tensor, output_tensor_type, token_embedding_type, tensor_type
        Changes to the recipe, as of ``ingot quantize``; `tensor_type` maps regular expressions to types.
    keep_split : bool
        Write as many files as the model has.
    allow_requantize, allow_nan : bool
        Quantize what is quantized already; weights that are not finite.
    pre : str, optional
        For a folder: as of `plan_import`.
    effort : {"auto", "reference", "best"}
        How blocks are chosen, as for `ingot.quantize`; ``"auto"`` looks at a sample of each tensor.
    feedback : bool
        With ``"best"``, let later weights of a row make good the errors of earlier ones wherever
        `imatrix` has second moments (``moments=`` of `collect_importance`).
    max_memory : int
        Limit of the memory of the process while it writes, bytes; 0 for none. What Python held
        before counts, and so do pages of mapped files: open `source` with ``access="read"``.
        Planning is not limited. Of several plans the first one's limit counts.
    resume : bool
        Write into ``PATH.ingot-quantizing``, which stays if the process is killed or fails, and go on
        with what is whole in one that is there. For results of one file. Whether a folder or a remote
        model has changed is seen by a sample of each tensor alone.

    Raises
    ------
    ingot.UsageError
        ``requantize_refused``, ``weights_required``, ``imatrix_mismatch``, ``target_too_small``;
        ``invalid_argument`` for a sensitivity that is no number from 0, or without an error.
    TypeError
        For a sensitivity without a target.
    """
    if sum(one is not None for one in (recipe, target_bpw, target_size)) != 1:
        raise TypeError("either a recipe, target_bpw or target_size is needed")
    if sensitivity is not None and recipe is not None:
        raise TypeError("sensitivity goes with target_bpw or target_size")
    matrix = opened_importance(imatrix)
    tensor_type = dict(tensor_type or {})
    options = chosen("plan_quantization", locals())
    options["sensitivities"] = None if sensitivity is None else list(sensitivity)
    model = opened_or_imported(source, pre, threads)
    return QuantizePlan(_core.QuantizeJob(model._core, options, matrix._core if matrix else None,
                                          matrix.name if matrix else "", progress))


@old_options(replace="force", **_OLD_OPTIONS)
def quantize_model(source: AnyModel, path: Union[Path, Sequence[Path]],
                   recipe: Optional[str] = None, *, force: bool = False,
                   target_bpw: Optional[float] = None, target_size: Optional[int] = None,
                   sensitivity: Optional[Iterable[TensorSensitivity]] = None,
                   imatrix: Union[ImportanceMatrix, Path, None] = None, pure: bool = False,
                   leave_output_tensor: bool = False, output_tensor_type: Optional[str] = None,
                   token_embedding_type: Optional[str] = None,
                   tensor_type: Optional[Mapping[str, str]] = None, keep_split: bool = False,
                   allow_requantize: bool = False, allow_nan: bool = False,
                   pre: Optional[str] = None, effort: str = "auto", feedback: bool = True,
                   threads: int = 0, max_memory: int = 0, resume: bool = False,
                   progress: Progress = None) -> List[TensorError]:
    """Quantize a model into a new file.

    Takes all parameters of `plan_quantization`.

    Returns
    -------
    list of TensorError
        One for each tensor, in the order of the file.
    """
    given = dict(locals())
    for of_the_writing in ("path", "force", "progress"):
        del given[of_the_writing]
    return plan_quantization(**given).write(path, force=force, progress=progress)


@old_options(replace="force")
def quantize_together(plans: Sequence[QuantizePlan], paths: Sequence[Union[Path, Sequence[Path]]], *,
                      force: bool = False, progress: Progress = None) -> List[List[TensorError]]:
    """Write several plans of one open model, which is read and decoded once for all of them.

    Parameters
    ----------
    plans : sequence of QuantizePlan
        Made with the same `Model`.
    paths : sequence of paths
        One for each plan; with ``keep_split`` a sequence of paths.

    Returns
    -------
    list of list of TensorError
        As of `quantize_model`, for each plan. The files are the same, too.

    Examples
    --------
    >>> with ingot.open("model.gguf") as model:
    ...     plans = [ingot.plan_quantization(model, name) for name in ("Q4_K_M", "Q8_0")]
    ...     ingot.quantize_together(plans, ["model-Q4_K_M.gguf", "model-Q8_0.gguf"])
    """
    if len(plans) != len(paths):
        raise ValueError(f"{len(plans)} plans need as many paths, not {len(paths)}")
    rows = _core.quantize_together([plan._core for plan in plans], [_paths(path) for path in paths],
                                   force, progress)
    return [as_rows(TensorError, one) for one in rows]
