# SPDX-License-Identifier: MIT
"""The exceptions of Ingot."""
from __future__ import annotations

import errno
import os
from typing import Any, Dict, List, Optional, Type, Union

__all__ = ["AccessError", "ChatError", "Error", "FormatError", "InputOutputError",
           "MissingFileError", "Remark", "UsageError"]

Path = Union[str, "os.PathLike[str]"]


class Error(Exception):
    """A failure that the library describes.

    Every Error is also a ValueError (the file or an argument is wrong) or an OSError (the system
    failed), so that code which knows nothing of Ingot handles it rightly.

    Attributes
    ----------
    code : str
        The kind of the error, stable: ``"key_duplicate"``. docs/errors.md lists all.
    number : int
        The number of the code, as in the C interface and in JSON.
    offset : int or None
        The byte of the file at which it was found.
    subject : str
        The key, tensor, field or file; not escaped, bytes that are no UTF-8 as surrogates.
    detail : str
        What was found; may be empty.
    remedy : str
        The option with which the same call would succeed, if the code alone does not say it:
        ``"allow_loss"``, ``"widen"``, ``"engine_codes"``, ``"widen_or_engine_codes"`` or
        ``"give_context"``; else ``"none"``.
    line, column : int
        The place in a text, such as a chat template or a model card, from 1; 0 if there is none.
    context : list of str
        What the subject is in, innermost first, where a call is about several: a shard, or the
        second of two models.
    """

    code: str = "internal"
    number: int = 0
    offset: Optional[int] = None
    subject: str = ""
    detail: str = ""
    remedy: str = "none"
    line: int = 0
    column: int = 0
    context: List[str] = []

    def __str__(self) -> str:
        # The text of OSError would show errno alone.
        return str(self.args[0]) if self.args else self.code

    def __reduce__(self) -> Any:
        # For other processes; what OSError keeps beside the dict would be lost.
        state = dict(self.__dict__)
        if isinstance(self, OSError):
            state.update(errno=self.errno, strerror=self.strerror, filename=self.filename)
        return type(self), self.args, state


class FormatError(Error, ValueError):
    """A file breaks its format, or is refused."""


class UsageError(Error, ValueError):
    """The request makes no sense for this file: a type that does not fit, an output that exists."""


class Remark(UserWarning, Error):
    """Something odd that did not stop the work: an element of lists of remarks, never raised."""


class InputOutputError(Error, OSError):
    """The system failed: no such file, a full disk, a file that another program uses."""


class MissingFileError(InputOutputError, FileNotFoundError):
    """There is no such file."""


class AccessError(InputOutputError, PermissionError):
    """The system does not permit it."""


class ChatError(FormatError):
    """A chat template cannot be read, or fails.

    Its ``line`` and ``column`` are the place in the template, and its ``detail`` is the reason: for
    ``code == "chat_raised"``, the words of the template.
    """

    @property
    def reason(self) -> str:
        """The ``detail``."""
        return self.detail


_CLASSES: Dict[str, Type[Error]] = {
    "input": FormatError, "lenient": FormatError, "usage": UsageError, "notice": Remark}
_OF_ERRNO: Dict[int, Type[Error]] = {
    errno.ENOENT: MissingFileError, errno.EACCES: AccessError, errno.EPERM: AccessError}


def make_error(message: str, category: str, system_number: int, attributes: Dict[str, Any],
               kind: Optional[Type[Error]]) -> Error:
    """Makes the exception of an error of the library; ``kind`` is its class, if it is known."""
    of_system = _OF_ERRNO.get(system_number, InputOutputError)
    found = _CLASSES.get(category, of_system) if kind is None else kind
    error = found(message)
    if isinstance(error, OSError) and system_number != 0:
        error.errno, error.strerror = system_number, os.strerror(system_number)
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


def usage_error(code: str, message: str, subject: str = "") -> UsageError:
    """The error of a request that never reaches the library."""
    error = UsageError(message)
    error.code, error.subject = code, subject
    return error


class about:
    """A block whose errors are about a file: their messages begin with its path."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if isinstance(error, Error):
            name_path(error, self._path)


def name_path(error: Error, path: str) -> None:
    """Lets the message of an error begin with the path, unless it does."""
    if error.subject != path:
        error.args = (f"{path or repr(path)}: {error}",)
    if isinstance(error, OSError):
        error.filename = path
