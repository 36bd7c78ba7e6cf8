# SPDX-License-Identifier: MIT
"""Checking, repairing and comparing whole models."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._display import NamedRows, Rows
from ._errors import FormatError, about, usage_error
from ._facts import Facts, as_row, as_rows, chosen, old_names, old_options, warn_of_old_name
from ._model import Model
from ._names import hint
from ._tables import this_machine
from ._work import AnyModel, Path, Progress, opened, words

__all__ = ["Difference", "Digests", "Distance", "Finding", "ImageTokens", "Mismatch", "Pair",
           "QuantizationError", "Repair", "RepairStep", "Statistics", "UploadPlan", "check", "diff", "distances", "fit",
           "hash", "image_tokens", "pairs", "plan_upload", "repair", "sound_tokens", "stats",
           "verify"]


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


@old_options(rules="only", max_findings_per_rule="limit", projector="with_")
def check(source: Union[Model, Path], *, data: bool = False, only: Union[str, Iterable[str]] = (),
          limit: int = 20, with_: Optional[AnyModel] = None, threads: int = 0,
          progress: Progress = None) -> List[Finding]:
    """Check a model against the rules of the format, conventions, and limits of loaders.

    Parameters
    ----------
    source : Model, path or reference
        A file that does not even open is a finding, too. A folder of a Hugging Face model is checked
        with its files, and as the model that its import makes. Of another folder all models are checked,
        those of folders below it, too, and of a repository, ``"hf:org/repo"``, all models: `shard` of a
        finding names the file.
    data : bool
        Also read all weights.
    only : str or iterable of str
        Only these, of `ingot.check_rules`.
    with_ : Model, or what `ingot.open` takes
        A projector that is to be loaded beside the model; one that does not fit is a finding.

    Raises
    ------
    ingot.UsageError
        ``invalid_argument`` if `only` names no rule.
    """
    rules = words(only)
    names = [rule["rule"] for rule in _core.check_rules()]
    for name in rules:
        if name not in names:
            raise usage_error("invalid_argument", f'there is no rule "{_core.escape(name)}"{hint(name, names)}; '
                              "check_rules() lists them", name)
    beside = None if with_ is None else opened(with_)._core
    def look(where: Union[str, _core.OpenModel], name: Path) -> List[Finding]:
        with about(name):
            return as_rows(Finding, _core.check(where, data, rules, limit, beside, threads, progress))
    if isinstance(source, Model):
        return look(source._core, source.paths[0])
    path = os.fspath(source)
    if not os.path.isdir(path) or _core.has_model_to_import(path):
        return look(path, path)
    models = list(_models_in(path))
    if not models:
        raise usage_error("invalid_argument", "nothing was checked: there is no file whose name ends in .gguf, "
                          "and no config.json", path)
    return Rows(finding._replace(shard=finding.shard or os.path.relpath(model, path))
                for model in models for finding in look(model, model))


def _models_in(folder: str) -> Iterator[str]:
    """Files and folders of models: of a set of shards the first."""
    for path, folders, names in os.walk(folder):
        folders.sort()
        if path != folder and _core.has_model_to_import(path):
            yield path
            continue
        for name in sorted(names):
            shard = _core.parse_shard_name(name)
            if name.endswith(".gguf") and (shard is None or shard[1] == 0):
                yield os.path.join(path, name)


class RepairStep(NamedTuple):
    what: str
    key: Optional[str]
    tensor: Optional[str]


@old_names(is_written="written")
class Repair(NamedTuple):
    """The result of a repair; `losses` are tensors that only ``drop_broken=True`` leaves out."""

    steps: List[RepairStep]
    losses: List[RepairStep]
    lost_tensors: int
    kept_tensors: int
    dropped_tensors: int
    written: bool


@old_options(replace="force")
def repair(path: Path, target: Path, *, drop_broken: bool = False, force: bool = False,
           dry_run: bool = False, threads: int = 0, progress: Progress = None) -> Repair:
    """Repair a model, as far as possible, into a new file; the old one is never changed."""
    with about(path):
        facts = _core.repair(os.fspath(path), os.fspath(target), drop_broken, force, dry_run,
                             threads, progress)
    facts.update({name: as_rows(RepairStep, facts[name]) for name in ("steps", "losses")})
    return as_row(Repair, facts)


class Digests(NamedTuple):
    """Digests by algorithm: of each file, of each tensor by name, of all weights, and the UUID of
    the weights."""

    files: Dict[str, Dict[str, str]]
    tensors: Dict[str, Dict[str, str]]
    weights: Dict[str, str]
    uuid: str


@old_options(algorithms="algorithm")
def hash(source: AnyModel, algorithm: Union[str, Sequence[str]] = "sha256", *, files: bool = True,
         tensors: bool = True, weights: bool = False, uuid: bool = False, threads: int = 0,
         progress: Progress = None) -> Digests:
    """Compute digests of the files and tensors of a model in one pass.

    Parameters
    ----------
    algorithm : str or sequence of str
        "sha256", "sha1", "xxh64", "xxh3-128", "xet": `ingot.digest_algorithms`.
    files, tensors, weights, uuid : bool
        What to digest; `weights` and `uuid` are those of llama-gguf-hash.
    """
    model = opened(source)
    facts = _core.hash(model._core, words(algorithm), files, tensors, weights, uuid, threads, progress)
    paths = [file.file for file in model.files]
    return Digests(dict(zip(paths, facts["files"])), dict(zip(model.tensors, facts["tensors"])),
                   facts["weights"], facts["uuid"])


class Mismatch(NamedTuple):
    """A digest that is not as published; docs/json.md explains the members."""

    kind: str
    name: str
    algorithm: Optional[str]
    expected: Optional[str]
    found: Optional[str]
    problem: str


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
    return as_rows(Mismatch, rows)


class UploadPlan(NamedTuple):
    """What an upload to Hugging Face would send; docs/json.md explains the members."""

    total: Dict[str, int]
    files: List[Dict[str, Any]]
    xorbs: List[Dict[str, Any]]


def plan_upload(files: Sequence[Path], against: Sequence[Path] = (), *, threads: int = 0,
                progress: Progress = None) -> UploadPlan:
    """Count the bytes of files and folders that are in no chunk of those in `against`, which may
    also be lists that ``ingot plan-upload -o`` wrote."""
    return as_row(UploadPlan, _core.plan_upload([os.fspath(path) for path in files],
                                                [os.fspath(path) for path in against], threads, progress))


@old_names(is_same="same")
class Difference(NamedTuple):
    """The names in which two models differ; `data` also has the first byte that differs."""

    keys: List[str]
    tensors: List[str]
    data: List[Tuple[str, int]]
    compared_tensors: int
    same: bool
    same_key_order: bool
    same_tensor_order: bool


def diff(a: AnyModel, b: AnyModel, *, data: bool = True, threads: int = 0,
         progress: Progress = None) -> Difference:
    """Compare keys, tensors and stored bytes of two models."""
    return as_row(Difference, _core.diff(opened(a)._core, opened(b)._core, data, threads, progress))


class QuantizationError(NamedTuple):
    """The distance of weights from their source; docs/json.md explains the members."""

    rmse: float
    sqnr_db: float
    max: float
    count: int  # type: ignore[assignment]  # of tuple, which a name like that of the JSON hides
    squared_error: float
    squared_signal: float


@old_names(pairs="count", largest="max")
class Distance(NamedTuple):
    """The distance of the weights of a tensor of `b` from those of `a`. Members are those of
    ``ingot diff --data --json``."""

    name: str
    count: int  # type: ignore[assignment]
    rmse: float
    sqnr_db: float
    max: float
    cosine: float
    differing: int
    squared_error: float
    squared_signal: float


def distances(a: AnyModel, b: AnyModel, *, threads: int = 0,
              progress: Progress = None) -> List[Distance]:
    """Decode all tensors that both models have in the same shape, and measure how far they are from
    one another."""
    rows = _core.distances(opened(a)._core, opened(b)._core, threads, progress)
    return as_rows(Distance, rows)


@old_names(nans="nan", infinities="inf", deviation="std")
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
    error: Optional[QuantizationError]


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
        `error` is that against the tensor of the same name and shape of this model.
    """
    model = opened(source)
    names = list(model.tensors) if tensors is None else words(tensors)
    indexes = [model.tensors[name]._index for name in names]
    other = None if reference is None else opened(reference)._core
    rows = _core.stats(model._core, indexes, bins, other, threads, progress)
    for row in rows:
        row["error"] = row["error"] and as_row(QuantizationError, row["error"])
    return NamedRows({name: as_row(Statistics, row) for name, row in zip(names, rows)})


@old_options(companions="with_", context="ctx_size", batch="batch_size", micro_batch="ubatch_size",
             sequences="parallel", experts_on_host="n_cpu_moe", key_type="cache_type_k",
             value_type="cache_type_v", flash_attention="flash_attn", unified_cache="kv_unified",
             full_windows="swa_full", offload_cache="kv_offload", map_file="mmap", devices="device")
def fit(source: AnyModel, *, with_: Iterable[AnyModel] = (), ctx_size: Optional[int] = None,
        batch_size: Optional[int] = None, ubatch_size: Optional[int] = None,
        parallel: Optional[int] = None, gpu_layers: Optional[int] = None,
        n_cpu_moe: Optional[int] = None, cache_type_k: Optional[str] = None,
        cache_type_v: Optional[str] = None, flash_attn: Optional[str] = None,
        kv_unified: Optional[bool] = None, swa_full: Optional[bool] = None,
        kv_offload: Optional[bool] = None, embeddings: Optional[bool] = None,
        mmap: Optional[bool] = None, repack: Optional[bool] = None,
        device: Union[str, int, Sequence[Union[str, int]], None] = None,
        tensor_split: Optional[Sequence[float]] = None, host: Union[str, int, None] = None,
        host_bandwidth: Optional[float] = None, images: Optional[int] = None,
        image_size: Optional[Tuple[int, int]] = None,
        audio_seconds: Optional[float] = None) -> Facts:
    """Estimate the memory that a run of a model takes, and whether it fits.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    with_ : iterable of models
        Adapters and projectors that are loaded beside it.
    ctx_size, batch_size, ubatch_size, parallel, gpu_layers, n_cpu_moe, kv_unified, swa_full, \
kv_offload, embeddings, mmap, repack
        As the options of llama.cpp, which ``ingot fit`` has, too; None: its default. What the program
        turns off by ``--no-mmap`` is ``mmap=False`` here.
    cache_type_k, cache_type_v : str
        Tensor types of the cache.
    flash_attn : {"auto", "on", "off"}
    device : str, int, or list of them
        ``"24G"``, bytes, or a name such as ``"rtx-4090"``, as of ``-d``; `ingot.device_models` lists them.
        ``"auto"``: the cards of this machine, and its host unless `host` is given, as
        `ingot.this_machine` has them.
    tensor_split : list of float
        Shares of the devices; default: by their memory.
    host : str or int
        Memory of the host, ``"64G"`` or bytes.
    host_bandwidth : float
        Bytes a second.
    images : int
        Images in the context, whose tokens count, for the projector among `with_`; default: 1
        with `image_size`.
    image_size : (int, int)
        Width and height of each, pixels.
    audio_seconds : float
        Seconds of a sound in the context, whose tokens count, for the projector among `with_`.

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
    if isinstance(device, (str, int)) and not isinstance(device, bool):
        device = [device]
    if isinstance(device, (list, tuple)):
        # A number alone would be one of gibibytes, as of -d.
        device = [f"{one}B" if isinstance(one, int) else one for one in device]
    if host is None and isinstance(device, (list, tuple)) and "auto" in device:
        host = this_machine()["host_bytes"]
    images = 1 if image_size and images is None else images
    if flash_attn == "automatic":
        warn_of_old_name('"automatic"', '"auto"')
        flash_attn = "auto"
    options = chosen("fit", locals())
    return Facts(_core.fit(opened(source)._core, options, [opened(one)._core for one in with_]),
                 _OLD_FIT_NAMES)


class ImageTokens(NamedTuple):
    """What becomes of an image: the states that a projector makes of it, the pictures that its
    encoder sees, the texts around it, and the work space of the encoder, at most (0: not known)."""

    tokens: int
    pictures: int
    columns: int
    rows: int
    marks: List[Dict[str, Any]]
    work_bytes: int = 0


def image_tokens(projector: AnyModel, width: int, height: int) -> ImageTokens:
    """Count the tokens that an image takes in the context of a model.

    Raises
    ------
    ingot.FormatError
        ``estimate_impossible`` for a type of projectors whose tokens are not known.
    """
    return ImageTokens(**_core.image_tokens(opened(projector)._core, width, height))


class SoundTokens(NamedTuple):
    """What becomes of a sound: the states that a projector makes of it, and the texts around it."""

    tokens: int
    marks: List[Dict[str, Any]]


def sound_tokens(projector: AnyModel, seconds: float) -> SoundTokens:
    """Count the tokens that a sound takes in the context of a model.

    Raises
    ------
    ingot.FormatError
        ``estimate_impossible`` for a type of projectors whose tokens are not known.
    """
    return SoundTokens(**_core.sound_tokens(opened(projector)._core, seconds))


class Pair(NamedTuple):
    """A model and a projector that belong together, by their positions in the list, and how well
    they fit: "same", "related" or "unnamed" (docs/json.md)."""

    model: int
    projector: int
    match: str


def pairs(sources: Iterable[AnyModel]) -> List[Pair]:
    """Find which projectors belong to which models, from their headers alone."""
    return Rows(Pair(*row) for row in _core.pairs([opened(one)._core for one in sources]))


_OLD_FIT_NAMES = {"most_gpu_layers": ("advice", "gpu_layers"), "longest_context": ("advice", "context"),
                  "tokens_per_second_at_start": ("tokens_per_second_bound", "empty_cache"),
                  "tokens_per_second_at_end": ("tokens_per_second_bound", "full_cache")}
