# SPDX-License-Identifier: MIT
"""Work on whole models. All of it reports to a `progress` callable, ten times a second with the
bytes done, and stops when that raises or the user presses Ctrl-C: then no file is left."""
import os
from typing import (Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence,
                    Tuple, Union)

import numpy as np

from . import _core
from ._errors import Error, FormatError, usage_error
from ._model import Model, Source, open as open_model

Path = Union[str, "os.PathLike[str]"]
Progress = Optional[Callable[[int], Any]]
AnyModel = Union[Model, Source]


def _opened(source: AnyModel) -> Model:
    return source if isinstance(source, Model) else open_model(source)


# --- splitting, merging, converting ---------------------------------------------------------------

class Shard(NamedTuple):
    """A file of a set."""

    path: str
    first_tensor: int
    tensor_count: int
    file_bytes: int


def split(source: AnyModel, prefix: Path, *, max_bytes: int = 0, max_tensors: int = 0,
          shards: int = 0, first_without_tensors: bool = False, replace: bool = False,
          dry_run: bool = False, progress: Progress = None) -> List[Shard]:
    """Split a model into ``PREFIX-00001-of-0000N.gguf`` and so on.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    prefix : path
        Of the files, without the numbers.
    max_bytes, max_tensors : int
        Of each file; 0: any number. At least one limit, or `shards`, has to be given.
    shards : int
        The number of files, as equal in size as can be.
    first_without_tensors : bool
        The first file holds only keys.
    dry_run : bool
        Only plan.

    Returns
    -------
    list of Shard

    Raises
    ------
    ingot.UsageError
        ``split_impossible``, with what would be possible; ``already_exists``; ``same_file``.
    """
    model = _opened(source)
    rows = _core.split(model._core, os.fspath(prefix), max_bytes, max_tensors, shards,
                       first_without_tensors, replace, dry_run, progress)
    return [Shard(*row) for row in rows]


def merge(source: AnyModel, path: Path, *, replace: bool = False, dry_run: bool = False,
          progress: Progress = None) -> int:
    """Merge a set of shards into one file, the original to the byte. Returns its size."""
    model = _opened(source)
    return _core.merge(model._core, os.fspath(path), replace, dry_run, progress)


class Conversion(NamedTuple):
    """What a conversion wrote: the files, remarks, and flaws of the result."""

    outputs: List[str]
    remarks: List[Error]
    warnings: List[Error]
    total_bytes: int


def convert(source: AnyModel, path: Path, *, format: Optional[str] = None,
            type: Optional[str] = None, all_tensors: bool = False, names: str = "keep",
            max_file_bytes: int = 0, version: Optional[int] = None,
            byte_order: Optional[str] = None, alignment: Optional[int] = None,
            bump_version: int = 3, bump_codes: Optional[str] = None,
            bump_context: Optional[int] = None, bump_config: Optional[str] = None,
            bump_manifest: Optional[str] = None, allow_loss: bool = False, widen: bool = False,
            strictly_original: bool = False, replace: bool = False, dry_run: bool = False,
            threads: int = 0, progress: Progress = None) -> Conversion:
    """Convert a model to another format, or to GGUF of another kind.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    path : path
        The file to write; its ending tells the format.
    format : {"gguf", "safetensors", "bump", "npz"}, optional
    type : str, optional
        F32, F16, BF16 or F64 for float and quantized tensors.
    all_tensors : bool
        GGUF: also norms and biases get `type`.
    names : {"keep", "hf"}
        Tensor names of safetensors and npz.
    max_file_bytes : int
        safetensors: where a new shard begins.
    version, byte_order, alignment
        Of a GGUF file.
    bump_version, bump_codes, bump_context, bump_config, bump_manifest, allow_loss, widen, strictly_original
        Of a bump file: docs/convert.md.
    """
    model = _opened(source)
    options: Dict[str, Any] = {
        "type": type, "all_tensors": all_tensors, "names": names,
        "max_file_bytes": max_file_bytes, "version": version, "byte_order": byte_order,
        "alignment": alignment, "bump_version": bump_version, "bump_codes": bump_codes,
        "bump_context": bump_context, "bump_config": bump_config, "bump_manifest": bump_manifest,
        "allow_loss": allow_loss, "widen": widen, "strictly_original": strictly_original,
        "replace": replace, "threads": threads}
    facts = _core.convert(model._core, os.fspath(path), format or "", options, dry_run, progress)
    return Conversion(**facts)


# --- quantizing -----------------------------------------------------------------------------------

class ImportanceMatrix(Mapping):
    """Importance data of one or several files, made by `ingot.imatrix`: a mapping from names of
    weight tensors to arrays of float32 of shape (experts, columns), ready for `ingot.quantize`."""

    def __init__(self, core: _core.ImportanceMatrix, name: str) -> None:
        self._core = core
        self.name = name

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        return self._core.weights(name)

    def __iter__(self) -> Any:
        return iter([row[0] for row in self._core.entries()])

    def __len__(self) -> int:
        return len(self._core.entries())

    def counts(self, name: str) -> List[float]:
        """How many tokens each expert has seen."""
        return self._core.counts(name)

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

    def write(self, path: Path, *, format: str = "gguf", replace: bool = False) -> None:
        """Writes all as one file; `format` is "gguf" or "legacy"."""
        self._core.write(os.fspath(path), format, replace)


def imatrix(*paths: Path) -> ImportanceMatrix:
    """Open importance matrices, in GGUF or the older .dat, and combine them as if all had been
    collected in one run."""
    if not paths:
        raise TypeError("the path of an importance matrix is needed")
    core = _core.ImportanceMatrix(os.fspath(paths[0]))
    for path in paths[1:]:
        core.merge(os.fspath(path))
    return ImportanceMatrix(core, os.path.basename(os.fspath(paths[0])))


class PlannedTensor(NamedTuple):
    name: str
    source_type: str
    type: str
    nbytes: int
    reason: str


class TensorError(NamedTuple):
    """How far a tensor is from its source; `relative` is the root of error over signal."""

    name: str
    elements: int
    rmse: float
    relative: float


class QuantizePlan:
    """What `quantize_model` would do; `write` does it."""

    def __init__(self, core: _core.QuantizeJob) -> None:
        self._core = core

    @property
    def tensors(self) -> List[PlannedTensor]:
        return [PlannedTensor(*row) for row in self._core.tensors()]

    @property
    def nbytes(self) -> int:
        """Of all tensors of the result."""
        return self._core.size_bytes()

    @property
    def bits_per_weight(self) -> float:
        return 8.0 * self._core.size_bytes() / max(self._core.element_count(), 1)

    def write(self, path: Union[Path, Sequence[Path]], *, replace: bool = False,
              progress: Progress = None) -> List[TensorError]:
        """Writes the model, atomically; with ``keep_shards`` a path for each shard."""
        if isinstance(path, (str, os.PathLike)):
            paths = [os.fspath(path)]
        else:
            paths = [os.fspath(one) for one in path]
        return [TensorError(*row) for row in self._core.write(paths, replace, progress)]


def plan_quantization(source: AnyModel, recipe: Optional[str] = None, *,
                      bits_per_weight: Optional[float] = None, file_bytes: Optional[int] = None,
                      importance: Union[ImportanceMatrix, Path, None] = None, pure: bool = False,
                      leave_output: bool = False, output_type: Optional[str] = None,
                      token_embedding_type: Optional[str] = None,
                      patterns: Optional[Mapping[str, str]] = None, keep_shards: bool = False,
                      allow_requantize: bool = False, allow_nan: bool = False, threads: int = 0,
                      progress: Progress = None) -> QuantizePlan:
    """Choose the types of a quantized model, and check all that can be checked before the work.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    recipe : str, optional
        A named mixture such as ``"Q4_K_M"``; `ingot.recipes` lists them. Without one:
    bits_per_weight, file_bytes : optional
        A target; types are chosen so that the error is least among all choices that fit.
    importance : ImportanceMatrix or path, optional
    pure, leave_output, output_type, token_embedding_type, patterns
        Changes to the recipe, as of ``ingot quantize``; `patterns` maps regular expressions to types.
    keep_shards : bool
        Write as many files as the model has.
    allow_requantize, allow_nan : bool
        Quantize what is quantized already; weights that are not finite.

    Raises
    ------
    ingot.UsageError
        ``requantize_refused``, ``weights_required``, ``imatrix_mismatch``, ``target_too_small``.
    """
    if sum(one is not None for one in (recipe, bits_per_weight, file_bytes)) != 1:
        raise TypeError("either a recipe, bits_per_weight or file_bytes is needed")
    if importance is not None and not isinstance(importance, ImportanceMatrix):
        importance = imatrix(importance)
    options: Dict[str, Any] = {
        "recipe": recipe, "bits_per_weight": bits_per_weight, "file_bytes": file_bytes,
        "pure": pure, "leave_output": leave_output, "output_type": output_type,
        "token_embedding_type": token_embedding_type, "patterns": dict(patterns or {}),
        "keep_shards": keep_shards, "allow_requantize": allow_requantize, "allow_nan": allow_nan,
        "threads": threads}
    given = {name: value for name, value in options.items() if value is not None}
    model = _opened(source)
    return QuantizePlan(_core.QuantizeJob(model._core, given,
                                          importance._core if importance else None,
                                          importance.name if importance else "", progress))


def quantize_model(source: AnyModel, path: Union[Path, Sequence[Path]],
                   recipe: Optional[str] = None, *, replace: bool = False,
                   progress: Progress = None, **options: Any) -> List[TensorError]:
    """Quantize a model into a new file.

    Takes all parameters of `plan_quantization`.

    Returns
    -------
    list of TensorError
        One for each tensor, in the order of the file.
    """
    plan = plan_quantization(source, recipe, **options)
    return plan.write(path, replace=replace, progress=progress)


class Recipe(NamedTuple):
    name: str
    description: str


def recipes() -> List[Recipe]:
    """The named mixtures of types."""
    return [Recipe(*row) for row in _core.recipes()]


# --- checking and repairing -----------------------------------------------------------------------

class Finding(NamedTuple):
    """A flaw or oddity of a model; docs/check-rules.md explains each rule."""

    rule: str
    severity: str
    category: str
    message: str
    offset: Optional[int]
    key: str
    tensor: str
    file: str


def check(source: Union[Model, Path], *, data: bool = False, rules: Iterable[str] = (),
          max_findings_per_rule: int = 20, threads: int = 0,
          progress: Progress = None) -> List[Finding]:
    """Check a model against the rules of the format, conventions, and limits of loaders.

    Parameters
    ----------
    source : Model or path
        A file that does not even open is a finding, too.
    data : bool
        Also read all weights.
    rules : iterable of str
        Only these.
    """
    where: Union[str, _core.OpenModel] = (
        source._core if isinstance(source, Model) else os.fspath(source))
    rows = _core.check(where, data, list(rules), max_findings_per_rule, threads, progress)
    return [Finding(*row) for row in rows]


class RepairStep(NamedTuple):
    what: str
    key: str
    tensor: str


class Repair(NamedTuple):
    """What was repaired; `losses` are tensors that only ``drop_broken=True`` leaves out."""

    steps: List[RepairStep]
    losses: List[RepairStep]
    kept_tensors: int
    dropped_tensors: int
    is_written: bool


def repair(path: Path, target: Path, *, drop_broken: bool = False, replace: bool = False,
           dry_run: bool = False, threads: int = 0, progress: Progress = None) -> Repair:
    """Repair a model, as far as possible, into a new file; the old one is never changed."""
    facts = _core.repair(os.fspath(path), os.fspath(target), drop_broken, replace, dry_run, threads,
                         progress)
    facts["steps"] = [RepairStep(*row) for row in facts["steps"]]
    facts["losses"] = [RepairStep(*row) for row in facts["losses"]]
    return Repair(**facts)


# --- comparing ------------------------------------------------------------------------------------

class Digests(NamedTuple):
    """Digests by algorithm: of each file, of each tensor by name, of all weights, and the UUID of
    the weights."""

    files: Dict[str, Dict[str, str]]
    tensors: Dict[str, Dict[str, str]]
    weights: Dict[str, str]
    uuid: str


def hash(source: AnyModel, algorithms: Sequence[str] = ("sha256",), *, files: bool = True,
         tensors: bool = True, weights: bool = False, uuid: bool = False, threads: int = 0,
         progress: Progress = None) -> Digests:
    """Compute digests of the files and tensors of a model in one pass.

    Parameters
    ----------
    algorithms : sequence of {"sha256", "sha1", "xxh64", "xxh3-128"}
    files, tensors, weights, uuid : bool
        What to digest; `weights` and `uuid` are those of llama-gguf-hash.
    """
    model = _opened(source)
    facts = _core.hash(model._core, list(algorithms), files, tensors, weights, uuid, threads, progress)
    paths = [file.path for file in model.files]
    return Digests(dict(zip(paths, facts["files"])), dict(zip(model.tensors, facts["tensors"])),
                   facts["weights"], facts["uuid"])


class Mismatch(NamedTuple):
    kind: str
    name: str
    algorithm: str
    expected: str
    found: str


def verify(source: AnyModel, manifest: str, *, entry: int = 0, threads: int = 0,
           progress: Progress = None) -> List[Mismatch]:
    """Compare a model with the text of a manifest: of ``ingot hash --json``, llama-gguf-hash or
    sha256sum. Raises FormatError ``manifest_invalid`` also where nothing could be compared."""
    model = _opened(source)
    compared, rows = _core.verify(model._core, manifest, entry, threads, progress)
    if not compared and not rows:
        error = FormatError("the manifest has no digest of this model")
        error.code = "manifest_invalid"
        raise error
    return [Mismatch(*row) for row in rows]


class Difference(NamedTuple):
    """The names in which two models differ; `data` also has the first byte that differs."""

    keys: List[str]
    tensors: List[str]
    data: List[Tuple[str, int]]
    compared_tensors: int
    is_same: bool


def diff(a: AnyModel, b: AnyModel, *, data: bool = True, threads: int = 0,
         progress: Progress = None) -> Difference:
    """Compare keys, tensors and stored bytes of two models."""
    return Difference(**_core.diff(_opened(a)._core, _opened(b)._core, data, threads, progress))


class Distance(NamedTuple):
    """How far the weights of a tensor of `b` are from those of `a`."""

    name: str
    pairs: int
    rmse: float
    sqnr_db: float
    largest: float
    cosine: float
    differing: int


def distances(a: AnyModel, b: AnyModel, *, threads: int = 0,
              progress: Progress = None) -> List[Distance]:
    """Decode all tensors that both models have in the same shape, and measure how far they are from
    one another."""
    rows = _core.distances(_opened(a)._core, _opened(b)._core, threads, progress)
    return [Distance(*row) for row in rows]


class Statistics(NamedTuple):
    """Statistics of the numbers of a tensor. Those that are not finite are only counted."""

    finite: int
    zeros: int
    nans: int
    infinities: int
    min: float
    max: float
    mean: float
    deviation: float
    histogram_low: float
    histogram_high: float
    histogram: List[int]
    error: Optional[Tuple[float, float]]


def stats(source: AnyModel, tensors: Optional[Iterable[str]] = None, *, bins: int = 64,
          reference: Optional[AnyModel] = None, threads: int = 0,
          progress: Progress = None) -> Dict[str, Statistics]:
    """Range, mean, spread and histogram of tensors, by name.

    Parameters
    ----------
    tensors : iterable of str, optional
        Default: all.
    bins : int
        Of the histograms; 0: none.
    reference : optional
        `error` is (rmse, sqnr_db) against the tensor of the same name and shape of this model.
    """
    model = _opened(source)
    names = list(model.tensors if tensors is None else tensors)
    indexes = [model.tensors[name]._index for name in names]
    other = None if reference is None else _opened(reference)._core
    rows = _core.stats(model._core, indexes, bins, other, threads, progress)
    return {name: Statistics(*row) for name, row in zip(names, rows)}


def fit(source: AnyModel, *, companions: Iterable[AnyModel] = (), **options: Any) -> Dict[str, Any]:
    """Estimate the memory that a run of a model takes, and whether it fits.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    companions : iterable of models
        Adapters and projectors that are loaded beside it.
    context, batch, micro_batch, sequences, gpu_layers, experts_on_host : int
    key_type, value_type : str
        Tensor types of the cache.
    flash_attention : {"automatic", "on", "off"}
    unified_cache, full_windows, offload_cache, embeddings, map_file, repack : bool
    devices : list of str
        ``"24G"`` or a name such as ``"rtx-4090"``.
    tensor_split : list of float
    host : str
        Memory of the host, ``"64G"``.
    host_bandwidth : float
        Bytes a second.

    Returns
    -------
    dict
        ``verdict`` is "fits", "tight", "does_not_fit" or "unknown"; ``devices`` and ``host`` say
        what each holds; ``most_gpu_layers`` and ``longest_context`` what would fit.

    Raises
    ------
    ingot.FormatError
        ``estimate_impossible`` if the header lacks what counts.
    ingot.UsageError
        ``run_refused`` for options that the engine refuses for this model.
    """
    unknown = set(options) - _FIT_OPTIONS
    if unknown:
        raise TypeError(f"unknown options: {', '.join(sorted(unknown))}")
    return _core.fit(_opened(source)._core, options, [_opened(one)._core for one in companions])


_FIT_OPTIONS = {"context", "batch", "micro_batch", "sequences", "gpu_layers", "experts_on_host",
                "key_type", "value_type", "flash_attention", "unified_cache", "full_windows",
                "offload_cache", "embeddings", "map_file", "repack", "devices", "tensor_split",
                "host", "host_bandwidth"}


# --- fetching -------------------------------------------------------------------------------------

class DownloadedFile(NamedTuple):
    """A file that was fetched; `is_verified` if its digest is the one that the server named."""

    path: str
    nbytes: int
    sha256: str
    is_verified: bool
    was_there: bool


def download(reference: str, folder: Path = ".", *, connections: int = 4, replace: bool = False,
             progress: Progress = None) -> List[DownloadedFile]:
    """Fetch the files of a model from a server, proven whole.

    A later call goes on where an earlier one ended; until then the file is ``NAME.ingot-part``.

    Parameters
    ----------
    reference : str
        ``"hf:org/repo:Q4_K_M"``, ``"ollama:model"``, ``"https://..."``: docs/remote.md lists all.
    folder : path
    connections : int
        Ranges that are fetched at the same time, 1 to 16.

    Raises
    ------
    ingot.Error
        ``digest_mismatch``; errors of the server.
    """
    if not hasattr(_core, "download"):
        raise usage_error("invalid_argument", "this build does not read from servers", reference)
    rows = _core.download(reference, os.fspath(folder), connections, replace, progress)
    return [DownloadedFile(*row) for row in rows]
