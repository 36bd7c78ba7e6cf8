# SPDX-License-Identifier: MIT
"""The tables of the library: what it knows of types, formats, rules, keys and devices."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from . import _core
from ._display import Rows
from ._errors import usage_error
from ._facts import as_rows, old_names
from ._names import hint

__all__ = ["CheckRule", "DeviceModel", "MetadataKey", "Recipe", "ShardName", "architecture",
           "architectures", "check_rules", "device_models", "digest_algorithms", "file_formats",
           "identify_content", "metadata_keys", "parse_shard_name", "recipes", "shard_file_name",
           "this_machine"]

#: Names of the algorithms of `ingot.hash`.
digest_algorithms: List[str] = list(_core.digest_algorithms)

#: Names of the formats of files: `Model.format`, and `format=` of `ingot.convert`.
file_formats: List[str] = list(_core.file_formats)


class Recipe(NamedTuple):
    """A named mixture of types, for `ingot.quantize_model`."""

    name: str
    description: str


def recipes() -> List[Recipe]:
    """The named mixtures of types."""
    return Rows(Recipe(*row) for row in _core.recipes())


@old_names(name="rule")
class CheckRule(NamedTuple):
    """A rule of `ingot.check`: docs/check-rules.md explains each. `severity` is "refused" for a rule
    without which a file does not open."""

    rule: str
    severity: str
    category: str
    title: str
    remedy: str
    source: str


def check_rules() -> List[CheckRule]:
    """All rules: first those by which a file is refused."""
    return as_rows(CheckRule, _core.check_rules())


def architectures() -> List[Dict[str, Any]]:
    """What Ingot can do with models of each architecture; docs/json.md explains the members."""
    return _core.architectures()


def architecture(name: str) -> Dict[str, Any]:
    """One architecture, with the keys and tensors that the engine wants. Raises `ingot.UsageError`
    with the code ``architecture_unsupported`` for a name that is not known."""
    row = _core.architecture(name)
    if row is None:
        names = [known["name"] for known in architectures()]
        raise usage_error("architecture_unsupported",
                          f"{name!r} is not known{hint(name, names)}; `ingot.architectures()` lists those that are",
                          name)
    return row


class DeviceModel(NamedTuple):
    """A device that `ingot.fit` knows by name; bandwidth in bytes a second, 0 if it is unknown."""

    name: str
    label: str
    memory_bytes: int
    usable_bytes: int
    bandwidth: float


def device_models() -> List[DeviceModel]:
    """The devices that `ingot.fit` knows by name."""
    return Rows(DeviceModel(*row) for row in _core.device_models())


def this_machine() -> Dict[str, Any]:
    """The memory that is free here: ``devices``, each with ``name``, ``usable_bytes`` and ``bandwidth``
    in bytes a second (0: unknown), and ``host_bytes``. It is what `ingot.fit` takes for "auto"."""
    return _core.this_machine()


class MetadataKey(NamedTuple):
    """A standard key. With `has_architecture` the name of the architecture and a dot go before it."""

    name: str
    has_architecture: bool
    type: str
    meaning: str


def metadata_keys() -> List[MetadataKey]:
    """The standard keys, and the types that they usually have."""
    return Rows(MetadataKey(*row) for row in _core.standard_keys())


class ShardName(NamedTuple):
    """The parts of ``PREFIX-00001-of-00003.gguf``; `shard` counts from 0."""

    prefix: str
    shard: int
    shards: int


def shard_file_name(prefix: str, shard: int, shards: int) -> str:
    """The name of a file of a set; `shard` counts from 0."""
    return _core.shard_file_name(prefix, shard, shards)


def parse_shard_name(path: str) -> Optional[ShardName]:
    """The reverse; None for a name of another form."""
    parts = _core.parse_shard_name(path)
    return None if parts is None else ShardName(*parts)


def identify_content(head: Any, file_bytes: Optional[int] = None) -> str:
    """Says in words what the first bytes of a file are; empty for what it does not know.

    Parameters
    ----------
    head : bytes-like
        A few hundred bytes are enough.
    file_bytes : int, optional
        The size of the file; default: that of `head`.
    """
    return _core.identify_content(head, memoryview(head).nbytes if file_bytes is None else file_bytes)
