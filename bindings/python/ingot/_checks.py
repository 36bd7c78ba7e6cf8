# SPDX-License-Identifier: MIT
"""Checking, repairing and comparing whole models."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._errors import FormatError, about
from ._facts import Facts, warn_of_old_name
from ._model import Model
from ._work import AnyModel, Path, Progress, opened, words

__all__ = ["Difference", "Digests", "Distance", "Finding", "Mismatch", "Repair", "RepairStep",
           "Statistics", "check", "diff", "distances", "fit", "hash", "repair", "stats", "verify"]


class Finding(NamedTuple):
    """A flaw or oddity of a model; docs/check-rules.md explains each rule. Members are those of
    ``ingot check --json``."""

    rule: str
    severity: str
    category: str
    message: str
    offset: Optional[int]
    key: Optional[str]
    tensor: Optional[str]
    shard: Optional[str]

    @property
    def file(self) -> str:
        """The old name of `shard`, "" for none."""
        warn_of_old_name("file", "shard")
        return self.shard or ""


def check(source: Union[Model, Path], *, data: bool = False, rules: Union[str, Iterable[str]] = (),
          max_findings_per_rule: int = 20, threads: int = 0,
          progress: Progress = None) -> List[Finding]:
    """Check a model against the rules of the format, conventions, and limits of loaders.

    Parameters
    ----------
    source : Model or path
        A file that does not even open is a finding, too. A folder of a Hugging Face model is checked
        with its files, and as the model that its import makes.
    data : bool
        Also read all weights.
    rules : str or iterable of str
        Only these, of `ingot.check_rules`.
    """
    where: Union[str, _core.OpenModel] = (
        source._core if isinstance(source, Model) else os.fspath(source))
    with about(source.paths[0] if isinstance(source, Model) else source):
        rows = _core.check(where, data, words(rules), max_findings_per_rule, threads, progress)
    return [Finding(**row) for row in rows]


class RepairStep(NamedTuple):
    what: str
    key: str
    tensor: str


class Repair(NamedTuple):
    """The result of a repair; `losses` are tensors that only ``drop_broken=True`` leaves out."""

    steps: List[RepairStep]
    losses: List[RepairStep]
    kept_tensors: int
    dropped_tensors: int
    is_written: bool


def repair(path: Path, target: Path, *, drop_broken: bool = False, replace: bool = False,
           dry_run: bool = False, threads: int = 0, progress: Progress = None) -> Repair:
    """Repair a model, as far as possible, into a new file; the old one is never changed."""
    with about(path):
        facts = _core.repair(os.fspath(path), os.fspath(target), drop_broken, replace, dry_run,
                             threads, progress)
    facts["steps"] = [RepairStep(*row) for row in facts["steps"]]
    facts["losses"] = [RepairStep(*row) for row in facts["losses"]]
    return Repair(**facts)


class Digests(NamedTuple):
    """Digests by algorithm: of each file, of each tensor by name, of all weights, and the UUID of
    the weights."""

    files: Dict[str, Dict[str, str]]
    tensors: Dict[str, Dict[str, str]]
    weights: Dict[str, str]
    uuid: str


def hash(source: AnyModel, algorithms: Union[str, Sequence[str]] = "sha256", *, files: bool = True,
         tensors: bool = True, weights: bool = False, uuid: bool = False, threads: int = 0,
         progress: Progress = None) -> Digests:
    """Compute digests of the files and tensors of a model in one pass.

    Parameters
    ----------
    algorithms : str or sequence of str
        "sha256", "sha1", "xxh64", "xxh3-128": `ingot.digest_algorithms`.
    files, tensors, weights, uuid : bool
        What to digest; `weights` and `uuid` are those of llama-gguf-hash.
    """
    model = opened(source)
    facts = _core.hash(model._core, words(algorithms), files, tensors, weights, uuid, threads, progress)
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
    model = opened(source)
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
    return Difference(**_core.diff(opened(a)._core, opened(b)._core, data, threads, progress))


class Distance(NamedTuple):
    """The distance of the weights of a tensor of `b` from those of `a`."""

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
    rows = _core.distances(opened(a)._core, opened(b)._core, threads, progress)
    return [Distance(*row) for row in rows]


class Statistics(NamedTuple):
    """Statistics of the numbers of a tensor. Those that are not finite are only counted; of no finite
    ones `min`, `max`, `mean` and `std` are None."""

    finite: int
    zeros: int
    nan: int
    inf: int
    min: Optional[float]
    max: Optional[float]
    mean: Optional[float]
    std: Optional[float]
    histogram_low: float
    histogram_high: float
    histogram: List[int]
    error: Optional[Tuple[float, float]]

    @property
    def nans(self) -> int:
        """The old name of `nan`."""
        warn_of_old_name("nans", "nan")
        return self.nan

    @property
    def infinities(self) -> int:
        """The old name of `inf`."""
        warn_of_old_name("infinities", "inf")
        return self.inf

    @property
    def deviation(self) -> Optional[float]:
        """The old name of `std`."""
        warn_of_old_name("deviation", "std")
        return self.std


def stats(source: AnyModel, tensors: Union[str, Iterable[str], None] = None, *, bins: int = 64,
          reference: Optional[AnyModel] = None, threads: int = 0,
          progress: Progress = None) -> Dict[str, Statistics]:
    """Range, mean, spread and histogram of tensors, by name.

    Parameters
    ----------
    tensors : str or iterable of str, optional
        Default: all.
    bins : int
        Of the histograms; 0: none.
    reference : optional
        `error` is (rmse, sqnr_db) against the tensor of the same name and shape of this model.
    """
    model = opened(source)
    names = list(model.tensors) if tensors is None else words(tensors)
    indexes = [model.tensors[name]._index for name in names]
    other = None if reference is None else opened(reference)._core
    rows = _core.stats(model._core, indexes, bins, other, threads, progress)
    return {name: Statistics(**row) for name, row in zip(names, rows)}


def fit(source: AnyModel, *, companions: Iterable[AnyModel] = (), **options: Any) -> Facts:
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
    devices : str or list of str
        ``"24G"`` or a name such as ``"rtx-4090"``; `ingot.device_models` lists them.
    tensor_split : list of float
    host : str
        Memory of the host, ``"64G"``.
    host_bandwidth : float
        Bytes a second.

    Returns
    -------
    dict
        The members of ``ingot fit --json``, which docs/json.md lists: ``verdict`` is "fits",
        "tight", "does_not_fit" or "unknown"; ``devices`` and ``host`` say what each holds;
        ``advice`` what would fit. ``most_gpu_layers`` and ``longest_context`` are old names of two
        members of ``advice``.

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
    if isinstance(options.get("devices"), str):
        options["devices"] = words(options["devices"])
    return Facts(_core.fit(opened(source)._core, options, [opened(one)._core for one in companions]),
                 _OLD_FIT_NAMES)


_OLD_FIT_NAMES = {"most_gpu_layers": ("advice", "gpu_layers"), "longest_context": ("advice", "context"),
                  "tokens_per_second_at_start": ("tokens_per_second_bound", "empty_cache"),
                  "tokens_per_second_at_end": ("tokens_per_second_bound", "full_cache")}
_FIT_OPTIONS = {"context", "batch", "micro_batch", "sequences", "gpu_layers", "experts_on_host",
                "key_type", "value_type", "flash_attention", "unified_cache", "full_windows",
                "offload_cache", "embeddings", "map_file", "repack", "devices", "tensor_split",
                "host", "host_bandwidth"}
