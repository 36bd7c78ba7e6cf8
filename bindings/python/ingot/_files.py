# SPDX-License-Identifier: MIT
"""Whole models to and from files: split, merge, convert. See _work.py for the manners of
all such functions."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

from . import _core
from ._errors import Error, about
from ._facts import as_rows, chosen, old_options
from ._importing import ImportPlan, folder_with, plan_folder
from ._model import Model, open as open_model
from ._work import AnyModel, Path, Progress, Shard, opened

__all__ = ["Conversion", "Shard", "convert", "exportable_architectures", "merge", "split"]


@old_options(max_bytes="max_size", first_without_tensors="no_tensor_first_split", replace="force")
def split(source: AnyModel, prefix: Path, *, max_size: int = 0, max_tensors: int = 0,
          shards: int = 0, no_tensor_first_split: bool = False, force: bool = False,
          dry_run: bool = False, progress: Progress = None) -> List[Shard]:
    """Split a model into ``PREFIX-00001-of-0000N.gguf`` and so on.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    prefix : path
        Of the files, without the numbers.
    max_size, max_tensors : int
        Of each file; 0: any number. At least one limit, or `shards`, has to be given.
    shards : int
        The number of files, as equal in size as can be.
    no_tensor_first_split : bool
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
    model = opened(source)
    with about(prefix):
        rows = _core.split(model._core, os.fspath(prefix), max_size, max_tensors, shards,
                           no_tensor_first_split, force, dry_run, progress)
    return as_rows(Shard, rows)


@old_options(replace="force")
def merge(source: AnyModel, path: Path, *, force: bool = False, dry_run: bool = False,
          progress: Progress = None) -> int:
    """Merge a set of shards into one file, the original to the byte. Returns its size."""
    model = opened(source)
    with about(path):
        return _core.merge(model._core, os.fspath(path), force, dry_run, progress)


class Conversion(NamedTuple):
    """The result of a conversion: the files, remarks, and flaws; for a folder, the losses when it
    is imported again."""

    outputs: List[str]
    remarks: List[Error]
    warnings: List[Error]
    total_bytes: int


def _convert_folder(plan: ImportPlan, path: str, max_size: int, force: bool, dry_run: bool,
                    progress: Progress) -> Conversion:
    """Writes what a folder becomes, in one file or in several."""
    if max_size:
        prefix = path[:-len(".gguf")] if path.endswith(".gguf") else path
        shards = plan.write_shards(prefix, max_size=max_size, force=force, dry_run=dry_run,
                                   progress=progress)
        return Conversion([shard.file for shard in shards], plan.remarks, [],
                          sum(shard.bytes for shard in shards))
    if not dry_run:
        plan.write(path, force=force, progress=progress)
    return Conversion([path], plan.remarks, [], plan.bytes)


def exportable_architectures() -> List[str]:
    """The architectures that `convert` writes as folders of Hugging Face models."""
    return _core.exportable_architectures()


# Options that have no meaning for a model folder, be it read or written.
_GGUF_OPTIONS = ("gguf_version", "endian", "align", "all_tensors")
_BUMP_OPTIONS = ("dtype_codes", "ctx_size", "config_out", "manifest_out", "allow_loss", "widen",
                 "strict_original")


def _refuse_misplaced(options: Dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if options[name]:
            raise TypeError(f"{name} has no meaning for a model folder")


def _export_folder(model: Model, folder: str, options: Dict[str, Any], dry_run: bool,
                   progress: Progress) -> Conversion:
    """Writes a model as the folder that it could have been imported from."""
    _refuse_misplaced(options, _GGUF_OPTIONS + _BUMP_OPTIONS)
    # 0 is the usual size, as for the program.
    given = chosen("export_folder", {**options, "max_size": options["max_size"] or None})
    with about(folder):
        return Conversion(**_core.export_folder(model._core, folder, given, dry_run, progress))


@old_options(format="to", max_file_bytes="max_size", version="gguf_version", byte_order="endian",
             alignment="align", bump_codes="dtype_codes", bump_context="ctx_size",
             bump_config="config_out", bump_manifest="manifest_out",
             strictly_original="strict_original", replace="force")
def convert(source: AnyModel, path: Path, *, to: Optional[str] = None,
            type: Optional[str] = None, all_tensors: bool = False, names: Optional[str] = None,
            max_size: int = 0, gguf_version: Optional[int] = None,
            endian: Optional[str] = None, align: Optional[int] = None,
            bump_version: int = 3, dtype_codes: Optional[str] = None,
            ctx_size: Optional[int] = None, config_out: Optional[Path] = None,
            manifest_out: Optional[Path] = None, allow_loss: bool = False, widen: bool = False,
            strict_original: bool = False, base: Optional[Path] = None,
            strict: bool = False, packing: Optional[str] = None, lossy: bool = False,
            force: bool = False, dry_run: bool = False,
            threads: int = 0, progress: Progress = None) -> Conversion:
    """Convert a model to another format, or to GGUF of another kind.

    A folder with config.json or adapter_config.json that becomes GGUF is imported, as by `plan_import`
    and `plan_adapter_import`, unless `names` is given. With ``names="hf"`` and a path whose ending tells
    no format, GGUF becomes such a folder, with configuration, card and tokenizer: docs/export.md.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    path : path
        The file to write; its ending tells the format. Or a folder that is empty or not there.
    to : {"gguf", "safetensors", "bump", "npz"}, optional
    type : str, optional
        F32, F16, BF16 or F64 for float and quantized tensors; of an adapter: F32 if there is none.
    all_tensors : bool
        GGUF: also norms and biases get `type`.
    names : {"keep", "hf"}
        Tensor names of safetensors and npz. Default: keep.
    max_size : int
        safetensors, and a folder that is imported: where a new shard begins. A folder that is written:
        0 means 5 GB.
    gguf_version, endian, align
        Of a GGUF file.
    bump_version, dtype_codes, ctx_size, config_out, manifest_out, allow_loss, widen, strict_original
        Of a bump file: docs/convert.md.
    base : path, optional
        LoRA adapters: the folder of the base model, of which config.json is read. Default: `source`.
    strict : bool
        A folder that is written: refuse a model that would not come back from it.
    packing : {"mlx", "gptq"}, optional
        A folder that is written: quantized weights keep their codes, as MLX or GPTQ has them.
    lossy : bool
        With `packing`: weights that it does not hold exactly are rounded, not refused.

    Returns
    -------
    Conversion
        Its `warnings` list keys and tensors that would not come back from a folder.

    Raises
    ------
    ingot.Error
        ``already_exists``, ``same_file``, and the reasons why a format cannot hold the model; for
        folders ``architecture_unsupported``, with the known ones (`exportable_architectures`),
        ``tokenizer_unknown``, and with `strict` ``would_be_lost``.
    TypeError
        For options that have no meaning there.

    Examples
    --------
    >>> ingot.convert("qwen3.gguf", "Qwen3-0.6B", names="hf", strict=True).outputs
    """
    target = os.fspath(path)
    ending = to or _core.format_by_ending(target)
    writes_folder = names == "hf" and ending is None
    config_out = config_out and os.fspath(config_out)
    manifest_out = manifest_out and os.fspath(manifest_out)
    options = {**chosen("convert", locals()), "strict": strict, "packing": packing, "lossy": lossy}
    if (strict or packing or lossy) and not writes_folder:
        raise TypeError('strict, packing and lossy are for folders that are written: names="hf" and a '
                        "path whose ending tells no format")
    if lossy and not packing:
        raise TypeError("lossy is for packing")
    folder = folder_with(source, "config.json", "adapter_config.json") if names is None else None
    if folder is not None and ending == "gguf":
        _refuse_misplaced(options, _GGUF_OPTIONS)
        return _convert_folder(plan_folder(folder, base, type, threads), target, max_size,
                               force, dry_run, progress)
    if base is not None:
        raise TypeError("base is for adapters")
    model = source if isinstance(source, Model) else open_model(source, as_stored=True)
    if writes_folder:
        return _export_folder(model, target, options, dry_run, progress)
    with about(path):
        return Conversion(**_core.convert(model._core, target, to or "", options, dry_run, progress))
