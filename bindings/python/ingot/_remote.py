# SPDX-License-Identifier: MIT
"""Models on servers: downloads, and the headers that are kept on this system. `ingot.open` reads them
in place."""
from __future__ import annotations

import os
from typing import List, NamedTuple

from . import _core
from ._errors import usage_error
from ._facts import as_rows, old_names, old_options
from ._work import Path, Progress

__all__ = ["CachedHeader", "DownloadedFile", "clear_remote_cache", "download", "list_remote_cache",
           "remote_cache_folder"]


def need_servers(subject: str = "") -> None:
    if not hasattr(_core, "download"):
        raise usage_error("invalid_argument", "this build does not read from servers", subject)


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


@old_options(replace="force")
def download(reference: str, folder: Path = ".", *, connections: int = 4, force: bool = False,
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
    need_servers(reference)
    rows = _core.download(reference, os.fspath(folder), connections, force, progress)
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
    need_servers()
    return _core.remote_cache_folder()


def list_remote_cache() -> List[CachedHeader]:
    """The kept headers, the last used first."""
    need_servers()
    return as_rows(CachedHeader, _core.list_remote_cache())


def clear_remote_cache() -> int:
    """Removes the kept headers; returns the bytes that were freed."""
    need_servers()
    return _core.clear_remote_cache()
