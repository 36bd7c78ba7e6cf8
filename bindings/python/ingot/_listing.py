# SPDX-License-Identifier: MIT
"""The models of this system, and the files of repositories."""
from __future__ import annotations

import fnmatch
import os
import re
from collections import Counter
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import _core
from ._checks import hash
from ._display import Rows
from ._errors import Error
from ._model import Model, is_model_folder, open as open_model, open_folder
from ._remote import need_servers
from ._work import Path

__all__ = ["LocalModel", "RemoteFile", "ls"]


class RemoteFile(NamedTuple):
    """A file on a server. `nbytes` and `sha256` are None where the server does not say; `local_path`
    is where the file is on this system already."""

    name: str
    nbytes: Optional[int]
    sha256: Optional[str]
    local_path: Optional[str]


class LocalModel(NamedTuple):
    """A model of this system. Members are those of ``ingot ls --local --json``, which docs/json.md
    explains: `name` opens it, `sha256` is None where the store does not name files by their digests,
    `duplicate_of` is None unless duplicates were looked for. What the header would tell is None for a
    model that is refused: `error` says why."""

    name: str
    store: str
    path: str
    sha256: Optional[str]
    title: Optional[str] = None
    architecture: Optional[str] = None
    parameters: Optional[int] = None
    type: Optional[str] = None
    bits_per_weight: Optional[float] = None
    size_bytes: int = 0
    context_length: Optional[int] = None
    license: Optional[str] = None
    chat_template: bool = False
    modified_at: int = 0
    duplicate_of: Optional[str] = None
    error: Optional[str] = None


_ORDERS: Dict[str, Callable[[LocalModel], Any]] = {
    "name": lambda one: [(int(part), "") if part.isdigit() else (-1, part)
                         for part in re.split(r"([0-9]+)", one.name)],
    "size": lambda one: -one.size_bytes,
    "parameters": lambda one: -(one.parameters or 0),
    "context": lambda one: -(one.context_length or 0),
    "date": lambda one: -one.modified_at,
}


def ls(reference: Optional[Path] = None, *, sort: Optional[str] = None, filter: Optional[str] = None,
       limit: int = 0, digest: bool = False,
       duplicates: bool = False) -> Union[List[RemoteFile], List[LocalModel]]:
    """List the models of this system, or the files of a repository on a server.

    Parameters
    ----------
    reference : str or path-like, optional
        A folder, whose models are listed with those of the folders below it, folders of Hugging Face
        models among them; or a repository such as ``"hf:org/repo"``: docs/remote.md lists all. Of an
        address the one file that it names. Without it, what Hugging Face's programs, Ollama, LM Studio
        and llama.cpp keep on this system, and what is below the folders of INGOT_MODELS.
    sort : {"name", "size", "parameters", "context", "date"}, optional
        The largest or latest first, but for names.
    filter : str, optional
        Only names and architectures that fit this pattern: ``*``, ``?``, ``[a-z]``, or
        ``re:EXPRESSION``.
    limit : int
        So many at most; 0: all.
    digest : bool
        Compute `sha256` where the store does not name it, which reads the files.
    duplicates : bool
        Find models with the same weights, whatever their keys. Weights are read only where as many
        tensors have as many bytes.

    Raises
    ------
    ingot.Error
        Errors of the server.
    TypeError
        For options that have no meaning for a repository.
    """
    name = "" if reference is None else os.fsdecode(reference)
    if sort is not None and sort not in _ORDERS:
        raise ValueError(f"sort is one of {', '.join(_ORDERS)}")
    need_servers(name)
    if reference is not None and not os.path.isdir(name):
        if sort or filter or limit or digest or duplicates:
            raise TypeError("sort, filter, limit, digest and duplicates are for models of this system")
        return Rows(RemoteFile(file, nbytes, sha256 or None, local or None)
                    for file, nbytes, sha256, local in _core.list_repository(name))
    places = [LocalModel(**row) for row in _core.list_local_models([name] if name else [])]
    places += [LocalModel(path, "local", path, None) for path in _model_folders(name)] if name else []
    models = [row for row in map(_look_at, places) if filter is None or _fits(row[0], filter)]
    rows = _with_duplicates(models) if duplicates else [row for row, _ in models]
    if sort is not None:
        rows.sort(key=_ORDERS[sort])
    rows = rows[:limit or None]
    return Rows(map(_with_digest, rows) if digest else rows)


def _model_folders(folder: str) -> Iterator[str]:
    for path, folders, _ in os.walk(folder):
        folders.sort()
        if is_model_folder(path):
            yield path


def _open(path: str) -> Model:
    return open_folder(path) if os.path.isdir(path) else open_model(path)


# How many tensors a model has, and their bytes.
Weights = Tuple[int, int]


def _look_at(place: LocalModel) -> Tuple[LocalModel, Weights]:
    """The row of a model, and its weights."""
    files = [place.path]
    if os.path.isdir(place.path):
        files = [entry.path for entry in os.scandir(place.path) if entry.is_file()]
    states = [os.stat(file) for file in files if os.path.exists(file)]
    row = place._replace(size_bytes=sum(one.st_size for one in states),
                         modified_at=int(max((one.st_mtime for one in states), default=0)))
    try:
        model = _open(place.path)
    except (Error, OSError) as error:
        return row._replace(error=str(error)), (0, 0)
    with model:
        facts = model.summary()
        told, types = facts["model"], facts["types"]
        size = sum(file.file_size for file in model.files) if model.format == "gguf" else 0
        license = model.metadata.get("general.license")
        return row._replace(
            title=told["name"] or None, architecture=told["architecture"], parameters=told["parameters"],
            type=told["file_type"] or (types[0]["type"] if types else None),
            bits_per_weight=told["bits_per_weight"], size_bytes=size or row.size_bytes,
            context_length=told["context_length"],
            license=license if isinstance(license, str) else None,
            chat_template=facts["tokenizer"]["chat_template"]), (len(model.tensors), told["tensor_bytes"])


def _fits(row: LocalModel, pattern: str) -> bool:
    texts = (row.name, row.architecture or "")
    if pattern.startswith("re:"):
        return any(re.search(pattern[3:], text) for text in texts)
    return any(fnmatch.fnmatchcase(text, pattern) for text in texts)


def _with_duplicates(models: List[Tuple[LocalModel, Weights]]) -> List[LocalModel]:
    """The rows with `duplicate_of`: of weights that may be equal, digests are compared, of which each
    file has one."""
    counts = Counter(weights for _, weights in models)
    digests: Dict[Tuple[int, int], str] = {}
    firsts: Dict[Tuple[Weights, str], str] = {}
    rows = []
    for row, weights in models:
        if weights[0] and counts[weights] > 1:
            state = os.stat(row.path)
            identity = (state.st_dev, state.st_ino)
            if identity not in digests:
                with _open(row.path) as model:
                    digests[identity] = hash(model, "xxh3-128", files=False, tensors=False,
                                             weights=True).weights["xxh3-128"]
            first = firsts.setdefault((weights, digests[identity]), row.name)
            row = row._replace(duplicate_of=None if first == row.name else first)
        rows.append(row)
    return rows


def _with_digest(row: LocalModel) -> LocalModel:
    if row.sha256 is not None or row.error is not None or os.path.isdir(row.path):
        return row
    with _open(row.path) as model:
        files = hash(model, "sha256", tensors=False).files
    return row if len(files) != 1 else row._replace(sha256=next(iter(files.values()))["sha256"])
