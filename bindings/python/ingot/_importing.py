# SPDX-License-Identifier: MIT
"""Folders of Hugging Face models."""
from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _core
from ._errors import Error, Path, about
from ._facts import as_rows, chosen, in_numpy_order, old_names, old_options
from ._metadata import wrap
from ._model import Model
from ._work import AnyModel, Progress, Shard, opened, plan_shards

__all__ = ["ImportPlan", "ImportedKey", "ImportedTensor", "find_adapter_base",
           "find_importable_class", "import_model", "plan_adapter_import", "plan_import"]


@old_names(origin="from_")
class ImportedKey(NamedTuple):
    """A key of the result, and the file that it comes from, such as "config.json"."""

    key: str
    value: Any
    from_: str


@old_names(nbytes="bytes", sources="from_")
class ImportedTensor(NamedTuple):
    """A tensor of the result. `shape` is in NumPy's order; `transform`, such as "rope_pairs", is empty
    if the values stay in place; `from_` names the tensors of the folder that it is made of. With
    ``exact``, `exact` says whether it holds every bit of them, and `max_error` by how much it does not."""

    name: str
    type: str
    shape: Tuple[int, ...]
    bytes: int
    from_: List[str]
    transform: str
    exact: Optional[bool]
    max_error: Optional[float]


@old_names(nbytes="bytes")
class ImportPlan:
    """A folder that has been checked and planned; `write` makes the model."""

    def __init__(self, core: _core.ImportPlan, folder: str) -> None:
        self._core = core
        self.folder = folder

    def __repr__(self) -> str:
        return f"<ingot.ImportPlan {self.folder!r}: {self.file_name}, {self.bytes:,} bytes>"

    @property
    def keys(self) -> List[ImportedKey]:
        """The keys in the order of the file."""
        return [key._replace(value=wrap(key.value))
                for key in as_rows(ImportedKey, self._core.keys())]

    @property
    def tensors(self) -> List[ImportedTensor]:
        """The tensors in the order of the file."""
        return in_numpy_order(as_rows(ImportedTensor, self._core.tensors()))

    @property
    def remarks(self) -> List[Error]:
        """Oddities of the folder that did not prevent the import."""
        return self._core.remarks()

    @property
    def type(self) -> str:
        """Of the weights."""
        return self._core.type()

    @property
    def file_name(self) -> str:
        """The usual name of the result, such as "Qwen3-0.6B-F16.gguf"."""
        return self._core.file_name()

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return self._core.file_bytes()

    def open_model(self) -> Model:
        """The result as a model that is in no file: its tensors are made when they are read. So what
        works on models works on a folder, and to the same bytes."""
        return Model(self._core.open_model())

    @old_options(max_bytes="max_size", replace="force")
    def write_shards(self, prefix: Path, *, max_size: int = 0, shards: int = 0,
                     only: Optional[int] = None, force: bool = False, dry_run: bool = False,
                     progress: Progress = None) -> List[Shard]:
        """Writes the model in several files, the same as `ingot.split` cuts.

        Parameters
        ----------
        prefix : path
            Of the files, without the numbers.
        max_size, shards : int
            The largest size of a file, or the number of files.
        only : int, optional
            Writes this file alone, from 0; the others can be made elsewhere.
        """
        with about(prefix):
            name = os.fspath(prefix)
            planned = plan_shards(self._core.open_model(), name, max_size, shards)
            if not dry_run:
                self._core.write_shards(name, max_size, shards, only, force, progress)
        return planned if only is None else [planned[only]]

    @old_options(replace="force")
    def write(self, path: Path, *, force: bool = False, progress: Progress = None) -> None:
        """Writes the model; it appears complete or not at all."""
        with about(path):
            self._core.write(os.fspath(path), force, progress)


_OLD_OPTIONS = {
    "as_class": "class_", "target_folder": "target_model_dir", "next_layers_only": "mtp",
    "without_next_layers": "no_mtp", "fuse_experts": "fuse_gate_up_exps", "fp8_as_q8_0": "fp8_as_q8",
    "dense_modules": "sentence_transformers_dense_modules"}


@old_options(**_OLD_OPTIONS)
def plan_import(folder: Path, *, type: Optional[str] = None, exact: bool = False,
                pre: Optional[str] = None,
                as_reference: bool = False, mistral_format: bool = False,
                class_: Optional[str] = None, model_name: Optional[str] = None,
                metadata: Union[Mapping[str, Any], str, None] = None,
                folder_name: Optional[str] = None, mmproj: bool = False,
                target_model_dir: Optional[Path] = None,
                mtp: bool = False, no_mtp: bool = False,
                fuse_gate_up_exps: bool = False, fp8_as_q8: bool = False,
                sentence_transformers_dense_modules: bool = False,
                threads: int = 0) -> ImportPlan:
    """Plan the import of a folder of a Hugging Face model, and check all that can be checked before
    a byte is written: the architecture is known, every tensor has a place, no layer and no expert is
    missing, and shapes agree with config.json.

    The result has the keys, tensors, types and order of llama.cpp's convert_hf_to_gguf.py:
    docs/import.md.

    Parameters
    ----------
    folder : path
        With config.json, or params.json of Mistral's own form, \\*.safetensors and the files of the
        tokenizer.
    type : {"F32", "F16", "BF16", "Q8_0", "TQ1_0", "TQ2_0"}, optional
        Of the weights. Default: that of the first matrix, if that is BF16 or F16, else F16.
    exact : bool
        Each tensor gets the smallest type that holds every value of it: quantized weights keep their
        bits, others their type.
    pre : str, optional
        The value of ``tokenizer.ggml.pre``. Default: by the tokenizer.
    as_reference : bool
        Write what the reference converter writes, its known defects included.
    mistral_format : bool
        Read params.json and consolidated*.safetensors, Mistral's own form, also where config.json is
        there, too.
    class_ : str, optional
        The class whose rules count instead of those of config.json.
    model_name : str, optional
        Replaces ``general.name``.
    metadata : mapping or str, optional
        Replaces keys of ``general.*``; a str is the text of a JSON object.
    folder_name : str, optional
        Counts as the name of the folder.
    mmproj : bool
        Make the projector of the folder, the file that engines load beside the model: its encoders
        of images and sound, and what makes tokens of them.
    target_model_dir : path, optional
        The model that a draft belongs to, whose tokenizer is that of the draft.
    mtp, no_mtp : bool
        Layers that predict further tokens alone, as a draft; or all but them.
    fuse_gate_up_exps : bool
        Gate and up matrices of experts become one tensor.
    fp8_as_q8 : bool
        Matrices of FP8 become Q8_0, whatever the type.
    sentence_transformers_dense_modules : bool
        Import the layers behind the pooling of a sentence-transformers model, too.

    Raises
    ------
    ingot.FormatError
        ``import_refused`` if the folder lacks, breaks or contradicts what its import needs, or its
        class is unknown.
    """
    if metadata is not None and not isinstance(metadata, str):
        metadata = json.dumps(dict(metadata))
    target_model_dir = None if target_model_dir is None else os.fspath(target_model_dir)
    name = os.fspath(folder)
    with about(folder):
        return ImportPlan(_core.ImportPlan(name, chosen("plan_import", locals())), name)


def plan_adapter_import(folder: Path, base: Path, *, type: Optional[str] = None,
                        threads: int = 0) -> ImportPlan:
    """Plan the import of a LoRA adapter as an adapter in GGUF.

    Parameters
    ----------
    folder : path
        With adapter_config.json and adapter_model.safetensors, as PEFT writes it.
    base : path
        A folder with config.json of the model that the adapter is for; its weights are not needed.
    type : {"F32", "F16", "BF16", "Q8_0"}, optional
        Default: that of the adapter's first tensor.

    Raises
    ------
    ingot.FormatError
        ``adapter_invalid`` for an adapter that breaks the rules or that GGUF cannot hold.
    ingot.UsageError
        ``adapter_mismatch`` if it is for another base.
    """
    name = os.fspath(folder)
    with about(folder):
        return ImportPlan(_core.plan_adapter_import(name, os.fspath(base), {"type": type,
                                                                            "threads": threads}), name)


@old_options(replace="force", **_OLD_OPTIONS)
def import_model(folder: Path, path: Path, *, force: bool = False, progress: Progress = None,
                 type: Optional[str] = None, exact: bool = False, pre: Optional[str] = None,
                 as_reference: bool = False, mistral_format: bool = False,
                 class_: Optional[str] = None, model_name: Optional[str] = None,
                 metadata: Union[Mapping[str, Any], str, None] = None,
                 folder_name: Optional[str] = None, mmproj: bool = False,
                 target_model_dir: Optional[Path] = None, mtp: bool = False,
                 no_mtp: bool = False, fuse_gate_up_exps: bool = False,
                 fp8_as_q8: bool = False, sentence_transformers_dense_modules: bool = False,
                 threads: int = 0) -> ImportPlan:
    """Import a folder of a Hugging Face model as GGUF.

    Takes all parameters of `plan_import`. `progress` gets the bytes written.

    Returns
    -------
    ImportPlan
        That was written.

    Examples
    --------
    >>> ingot.import_model("Qwen3-0.6B", "qwen3.gguf", type="BF16")
    """
    given = dict(locals())
    for of_the_writing in ("path", "force", "progress"):
        del given[of_the_writing]
    plan = plan_import(**given)
    plan.write(path, force=force, progress=progress)
    return plan


def find_adapter_base(folder: Path) -> Optional[str]:
    """The base model that a folder with an adapter names, which may be empty; None if the folder has
    no adapter, or has the weights of a model beside it."""
    return _core.find_adapter_base(os.fspath(folder))


def plan_folder(folder: str, base: Optional[Path], type: Optional[str], threads: int) -> ImportPlan:
    """Plans the import of a model or of an adapter."""
    named = find_adapter_base(folder)
    if named is None:
        if base is not None:
            raise TypeError("base is for adapters")
        return plan_import(folder, type=type, threads=threads)
    if base is None and folder_with(folder, "config.json") is None:
        raise TypeError(f"an adapter is converted by config.json of its base, {named!r}; "
                        "give its folder as base=")
    return plan_adapter_import(folder, folder if base is None else base, type=type or "F32",
                               threads=threads)


def folder_with(source: AnyModel, *names: str) -> Optional[str]:
    """The path of a source that is a folder with one of these files."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fspath(source)
    return path if any(os.path.isfile(os.path.join(path, name)) for name in names) else None


def opened_or_imported(source: AnyModel, pre: Optional[str], threads: int) -> Model:
    """The model, or that of a folder, which is made while it is read."""
    folder = folder_with(source, "config.json")
    if folder is not None:
        return plan_import(folder, pre=pre, threads=threads).open_model()
    if pre is not None:
        raise TypeError("pre is for model folders")
    return opened(source)


def find_importable_class(folder: Path) -> Optional[str]:
    """The class that config.json of a folder names, if `plan_import` knows it; None if it does not,
    or if the folder has no such file."""
    return _core.find_importable_class(os.fspath(folder))
