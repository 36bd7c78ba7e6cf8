# SPDX-License-Identifier: MIT
"""Models: opening, files."""
from __future__ import annotations

import json
import os
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._errors import Error, Path, about, name_path, usage_error
from ._facts import Facts, as_rows, old_names
from ._handle import Handle
from ._html import model_html
from ._metadata import Metadata
from ._tensor import Tensors

if TYPE_CHECKING:
    import ingot

__all__ = ["Field", "Model", "ModelFile", "open", "show"]

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]


@old_names(path="file", byte_order="endian", file_bytes="file_size", key_count="metadata_count")
class ModelFile(NamedTuple):
    """One file of a model: the only one, or a shard."""

    file: str
    shard: int
    version: int
    endian: str
    alignment: int
    file_size: int
    header_bytes: int
    data_offset: int
    metadata_count: int
    tensor_count: int


@old_names(nbytes="size", name="field")
class Field(NamedTuple):
    """A run of bytes of a file with one meaning; `subject` is the key or the tensor that it belongs to,
    or None."""

    section: str
    offset: int
    size: int
    field: str
    subject: Optional[str]
    meaning: str


class Model:
    """An open model, made by `ingot.open`. A context manager.

    Attributes
    ----------
    metadata : Metadata
        Keys and values, a read-only mapping.
    tensors : Tensors
        Tensors by name, a read-only mapping in file order.

    Any number of threads may use one model at a time.
    """

    def __init__(self, core: _core.OpenModel, remarks: List[Error] = []) -> None:
        self._handle = Handle(core)
        self._remarks = remarks
        self.metadata = Metadata(self._handle)
        self.tensors = Tensors(self._handle)

    @property
    def _core(self) -> _core.OpenModel:
        return self._handle.core

    def close(self) -> None:
        """Ends the use of this object.

        Arrays and tensors that were taken from it stay valid: the file is unmapped when the last of
        them is gone.
        """
        self._handle.close()

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def name(self) -> Optional[str]:
        """The name that the model gives itself, ``general.name``."""
        return self.metadata.get("general.name")

    @property
    def architecture(self) -> Optional[str]:
        """``general.architecture``"""
        return self.metadata.get("general.architecture")

    @cached_property
    def tokenizer(self) -> ingot.Tokenizer:
        """The tokenizer, made when it is first asked for: ``ingot.Tokenizer(model)``."""
        import ingot  # whose files that make these begin with this one
        made: ingot.Tokenizer = ingot.Tokenizer(self)
        return made

    @cached_property
    def chat_template(self) -> ingot.ChatTemplate:
        """The default chat template, likewise: ``ingot.ChatTemplate(model)``. Raises `ingot.ChatError`
        if there is none."""
        import ingot
        return ingot.ChatTemplate(self)

    def __getitem__(self, key: str) -> Any:
        """The value of a key, as of `metadata`."""
        return self.metadata[key]

    def __contains__(self, key: object) -> bool:
        return key in self.metadata

    __iter__ = None  # keys and tensors are two things to go through

    @property
    def format(self) -> str:
        """The format of the file: ``"gguf"``, ``"safetensors"``, ``"bump"``."""
        return self._core.format()

    @property
    def paths(self) -> List[str]:
        """The files of the model, or the folder that is imported; empty texts for those that are not on
        disk."""
        return self._core.paths()

    @property
    def files(self) -> List[ModelFile]:
        """The files as GGUF; more than one for a set of shards."""
        return as_rows(ModelFile, self._core.files())

    @property
    def is_complete(self) -> bool:
        """Whether all shards of the set are there."""
        return self._core.is_complete()

    @property
    def is_verified(self) -> bool:
        """Whether the files were read as a whole, not through a layout index."""
        return self._core.is_verified()

    @property
    def notices(self) -> List[Error]:
        """Oddities of the file, or of the folder that is imported, that did not prevent opening it."""
        return self._core.notices() + self._remarks

    @property
    def facts(self) -> dict[str, str]:
        """Properties of a file of another format that are no keys, such as its dialect."""
        return self._core.facts()

    def summary(self) -> Facts:
        """The model at a glance: ``model``, ``tokenizer`` and ``types`` as of ``ingot show --json``,
        which docs/json.md lists; None for what the file does not say. Names of an earlier version,
        such as ``parameter_count``, are old names of members of these."""
        return Facts(self._core.summary(), _OLD_SUMMARY_NAMES)

    def anatomy(self, file: int = 0) -> List[Field]:
        """A file explained byte by byte: every byte belongs to exactly one of the fields."""
        return as_rows(Field, self._core.fields(file))

    def _repr_html_(self) -> str:
        if self.closed:
            return repr(self)
        files = [(file.file, self.format, file._asdict()) for file in self.files]
        tokens = self.metadata.get("tokenizer.ggml.tokens", ())
        return model_html(self.summary(), files, len(tokens), self.metadata.get("general.license", ""),
                          self.notices)

    def __repr__(self) -> str:
        if self.closed:
            return "<ingot.Model: closed>"
        name = self.paths[0] or "in memory"
        return (f"<ingot.Model {name!r}: {self.format}, {len(self.metadata)} keys, "
                f"{len(self.tensors)} tensors>")


def open(source: Source, *, access: str = "map", lenient: bool = False, shards: bool = True,
         header_only: bool = False, uses_index: bool = False, as_stored: bool = False,
         limits: Optional[dict[str, int]] = None) -> Model:
    """Open a model.

    Parameters
    ----------
    source : path, reference, bytes, bytearray, memoryview or file object
        A path is a file in any format that Ingot reads (the content decides), the first shard of a
        set, or a folder of a Hugging Face model, which opens as the model that `ingot.import_model`
        would make of it: its tensors are made when they are read. A reference is an address
        (``https://...``) or a name such as ``hf:org/repo:Q4_K_M``; only what is looked at is fetched.
        Bytes are the content of a file; they are borrowed, not copied. A file object is binary and can
        seek; what cannot is read to its end.
    access : {"map", "read"}
        Map files into memory, the fastest, or read them piece by piece: then another program that
        truncates the file causes an error, and not the end of this one.
    lenient : bool
        Also open files that break rules of numbers, or have unknown tensor types.
    shards : bool
        Look for the other files of a set beside the file.
    header_only : bool
        Read the header alone: of a file that is cut off behind it. Reading data fails.
    uses_index : bool
        Read a file that has a layout index through it: the tensors, and the keys with short values,
        without a look at the vocabulary. What is read so is unverified (`Model.is_verified`), as the
        writer of the file has written the index.
    as_stored : bool
        Open the weights of such a folder alone, under their names there. So it is done with a warning
        where a folder cannot be imported.
    limits : dict, optional
        Limits for hostile files: ``max_header_bytes``, ``max_keys``, ``max_tensors``,
        ``max_string_bytes``, ``max_array_elements``, ``max_depth``.

    Returns
    -------
    Model

    Raises
    ------
    ingot.FormatError
        The file breaks its format; `code`, `offset` and `subject` say where. A ValueError.
    ingot.InputOutputError
        The file cannot be read. An OSError; FileNotFoundError if there is none.
    ingot.UsageError
        A reference that names no file, or several. A ValueError.

    Examples
    --------
    >>> with ingot.open("model.gguf") as model:
    ...     print(model.metadata["general.architecture"], len(model.tensors))
    ...     row = model.tensors["token_embd.weight"].dequantize(rows=0)
    """
    if access not in ("map", "read"):
        raise ValueError('access must be "map" or "read"')
    bounds = {} if limits is None else dict(limits)
    unknown = set(bounds) - set(_core.limit_names)
    if unknown:
        raise ValueError(f"unknown limits: {', '.join(sorted(unknown))}")
    if isinstance(source, (bytes, bytearray, memoryview, np.ndarray)):
        return Model(_core.open_bytes(source, lenient, header_only, uses_index, bounds))
    if isinstance(source, (str, os.PathLike)):
        if not as_stored and is_model_folder(source):
            try:
                return open_folder(os.fspath(source))
            except Error as error:
                warnings.warn(f"{os.fspath(source)}: only its weights open, since it cannot be imported: {error}",
                              stacklevel=2)
        return _open_path(os.fspath(source), access, lenient, shards, header_only, uses_index, bounds)
    if not hasattr(source, "read"):
        raise TypeError(f"a path, bytes or a binary file is needed, not {type(source).__name__}")
    if source.seekable():
        return Model(_core.open_file(source, lenient, header_only, uses_index, bounds))
    return Model(_core.open_bytes(source.read(), lenient, header_only, uses_index, bounds))


def _is_remote(path: str) -> bool:
    if hasattr(_core, "open_remote"):
        return _core.is_remote_reference(path)
    if path.startswith(("https://", "http://", "hf:", "ollama:", "ms:")):
        raise usage_error("invalid_argument", "this build does not read from servers; fetch the file "
                          "first", path)
    return False


def show(source: Union[Model, Source]) -> Facts:
    """Say what a model is: the document of ``ingot show --json``, which docs/json.md explains.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes

    Examples
    --------
    >>> ingot.show("model.gguf")["memory"]["smallest_card_bytes"]
    """
    model = source if isinstance(source, Model) else open(source)
    named = source if isinstance(source, (str, os.PathLike)) else model.paths[0]
    return Facts(json.loads(_core.show(model._core, os.fspath(named))), {})


def is_model_folder(path: Path) -> bool:
    """Whether a path is a folder of a model with weights, as an import takes it."""
    return os.path.isdir(path) and os.path.isfile(os.path.join(path, "config.json")) and any(
        name.startswith("model") and name.endswith(".safetensors") for name in os.listdir(path))


def open_folder(path: str) -> Model:
    """Opens what an import would make of such a folder."""
    plan = _core.ImportPlan(path, {})
    return Model(plan.open_model(), plan.remarks())


_OTHER_FORMAT = ("not_gguf", "not_a_regular_file", "truncated", "io_error")


def _open_path(path: str, access: str, lenient: bool, shards: bool, header_only: bool,
               uses_index: bool, limits: dict[str, int]) -> Model:
    if _is_remote(path):
        return Model(_core.open_remote(path, lenient, header_only, uses_index, limits))
    try:
        return Model(_core.open_gguf(path, access, lenient, shards, header_only, uses_index, limits))
    except Error as error:
        # Only what is no GGUF file may be one of another format.
        if error.code not in _OTHER_FORMAT or _core.detect_format(path) in (None, "gguf"):
            name_path(error, path)
            raise
    with about(path):
        return Model(_core.open_path(path, access, lenient, shards, header_only, uses_index, limits))


_OLD_SUMMARY_NAMES = {
    **{name: ("model", name) for name in
       ("name", "architecture", "tensor_bytes", "bits_per_weight", "file_type", "context_length",
        "block_count", "embedding_length", "feed_forward_length", "head_count", "head_count_kv",
        "expert_count", "expert_used_count", "vocab_size")},
    "parameter_count": ("model", "parameters"), "tokenizer_model": ("tokenizer", "model"),
    "tokenizer_pre": ("tokenizer", "pre"), "has_chat_template": ("tokenizer", "chat_template")}
