# SPDX-License-Identifier: MIT
"""Models on servers: what is there, downloads, and the headers that are kept on this system.
`ingot.open` reads them in place."""
from __future__ import annotations

import os
from typing import List, NamedTuple, Optional, Union

from . import _core
from ._errors import usage_error
from ._facts import as_rows, old_names
from ._work import Path, Progress

__all__ = ["CachedHeader", "DownloadedFile", "LocalModel", "RemoteFile", "clear_remote_cache", "download",
           "list_remote_cache", "ls", "remote_cache_folder"]


def _need_servers(subject: str = "") -> None:
    if not hasattr(_core, "download"):
        raise usage_error("invalid_argument", "this build does not read from servers", subject)


class RemoteFile(NamedTuple):
    """A file on a server. `nbytes` and `sha256` are None where the server does not say; `local_path`
    is where the file is on this system already."""

    name: str
    nbytes: Optional[int]
    sha256: Optional[str]
    local_path: Optional[str]


class LocalModel(NamedTuple):
    """A model that a program keeps on this system. `name` opens it; `sha256` is None where the store does
    not name files by their digests."""

    name: str
    store: str
    path: str
    sha256: Optional[str]


def ls(reference: Optional[Path] = None) -> Union[List[RemoteFile], List[LocalModel]]:
    """List the models of this system, or the files of a repository on a server.

    Parameters
    ----------
    reference : str or path-like, optional
        A folder, or a repository such as ``"hf:org/repo"``: docs/remote.md lists all. Of an address the
        one file that it names. Without it, what Hugging Face's programs, Ollama, LM Studio and llama.cpp
        keep on this system, and what is below the folders of INGOT_MODELS.

    Raises
    ------
    ingot.Error
        Errors of the server.
    """
    name = "" if reference is None else os.fsdecode(reference)
    _need_servers(name)
    if reference is None or os.path.isdir(name):
        return as_rows(LocalModel, _core.list_local_models([name] if name else []))
    return [RemoteFile(name, nbytes, sha256 or None, local or None)
            for name, nbytes, sha256, local in _core.list_repository(name)]


@old_names(nbytes="size", is_verified="verified")
class DownloadedFile(NamedTuple):
    """A file that was fetched: `name` in the repository, `path` here; `verified` if its digest is the
    one that the server named; `kept_bytes` of an earlier attempt."""

    name: str
    path: str
    size: int
    sha256: str
    verified: bool
    was_there: bool
    kept_bytes: int


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
    _need_servers(reference)
    rows = _core.download(reference, os.fspath(folder), connections, replace, progress)
    return as_rows(DownloadedFile, rows)


@old_names(file_bytes="file_size", kept_bytes="bytes", is_immutable="immutable")
class CachedHeader(NamedTuple):
    """The kept beginning of a remote file: `bytes` of its `file_size`; `used_at` in seconds since 1970.
    Where it is `immutable`, the address names a commit or a digest, and no server is asked."""

    address: str
    file_size: int
    bytes: int
    used_at: int
    immutable: bool


def remote_cache_folder() -> str:
    """The folder in which headers of remote models are kept; empty if the environment names none."""
    _need_servers()
    return _core.remote_cache_folder()


def list_remote_cache() -> List[CachedHeader]:
    """The kept headers, the last used first."""
    _need_servers()
    return as_rows(CachedHeader, _core.list_remote_cache())


def clear_remote_cache() -> int:
    """Removes the kept headers; returns the bytes that were freed."""
    _need_servers()
    return _core.clear_remote_cache()
