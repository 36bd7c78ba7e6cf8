# SPDX-License-Identifier: MIT
"""Metadata: what the card, the configuration and the name of a model say about it.

Names and cards are taken apart by the library, as an import takes them.
"""
from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from ingot import _core
from ingot.gguf.constants import KEY_OF_FUNCTION

__all__ = ["Metadata"]

logger = logging.getLogger("metadata")

_CARD_BYTES = 1 << 20  # as much of a card as an import reads

# Members of a card that a text or a number is taken from, and the attribute; the first counts. They
# stand alone or after "model_".
_CARD_MEMBERS = (("name", "name"), ("author", "author"), ("version", "version"),
                 ("organization", "organization"), ("description", "description"),
                 ("finetune", "finetune"), ("basename", "basename"), ("size_label", "size_label"),
                 ("url", "source_url"), ("doi", "source_doi"), ("uuid", "source_uuid"),
                 ("repo_url", "source_repo_url"))
_OTHER_CARD_MEMBERS = (("model_creator", "author"), ("model_type", "basename"), ("license", "license"),
                       ("license_name", "license_name"), ("license_link", "license_link"))
# Attributes that are lists of models or data sets, the members of a card that have them, and the
# beginning of the functions of GGUFWriter.
_SOURCES = (("base_models", ("base_model", "base_models", "base_model_sources"), "base_model"),
            ("datasets", ("datasets", "dataset", "dataset_sources"), "dataset"))
_LISTS = (("tags", ("tags", "pipeline_tag")), ("languages", ("languages", "language")))
# Members of generation_config.json that have another name than their attribute.
_GENERATION_MEMBERS = {"sampling_temp": "temperature"}

Parts = Tuple[Optional[str], Optional[str], Optional[str], Optional[str], Optional[str], Optional[str]]


def _source_of(source: Any, total_params: int) -> Dict[str, Any]:
    """The facts about a model or data set in an entry of a card, an address or the name of a
    model."""
    if isinstance(source, dict):
        return source
    if not isinstance(source, str):
        logger.error("entry %r of a model card is neither a name nor an object", source)
        return {}
    facts: Dict[str, Any] = {}
    name: Optional[str] = source
    is_address = source.startswith(("http://", "https://", "ssh://"))
    if is_address:
        facts["repo_url"] = source
        match = re.match(r"https?://huggingface\.co/([^/]+/[^/]+)$", source)
        name = match.group(1) if match else None
    if name is not None:
        whole, organization, _, _, version, _ = Metadata.get_model_id_components(name, total_params)
        facts["name"] = Metadata.id_to_title(whole)
        if organization is not None:
            facts["organization"] = Metadata.id_to_title(organization)
        if version is not None:
            facts["version"] = version
        if organization is not None and not is_address:
            facts["repo_url"] = f"https://huggingface.co/{organization}/{whole}"
    return facts


def _as_list(value: Any) -> List[Any]:
    """A list, or one of a text; all else is none."""
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _read_object(path: Path) -> Dict[str, Any]:
    value = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{path}: not an object")
    return value


@dataclass
class Metadata:
    """The keys general.* of a model; None for what is not known."""

    sampling_sequence: Optional[str] = None
    sampling_top_k: Optional[int] = None
    sampling_top_p: Optional[float] = None
    sampling_min_p: Optional[float] = None
    sampling_xtc_probability: Optional[float] = None
    sampling_xtc_threshold: Optional[float] = None
    sampling_temp: Optional[float] = None
    sampling_penalty_last_n: Optional[int] = None
    sampling_penalty_repeat: Optional[float] = None
    sampling_mirostat: Optional[int] = None
    sampling_mirostat_tau: Optional[float] = None
    sampling_mirostat_eta: Optional[float] = None
    name: Optional[str] = None
    author: Optional[str] = None
    version: Optional[str] = None
    organization: Optional[str] = None
    finetune: Optional[str] = None
    basename: Optional[str] = None
    description: Optional[str] = None
    quantized_by: Optional[str] = None
    size_label: Optional[str] = None
    url: Optional[str] = None
    doi: Optional[str] = None
    uuid: Optional[str] = None
    repo_url: Optional[str] = None
    source_url: Optional[str] = None
    source_doi: Optional[str] = None
    source_uuid: Optional[str] = None
    source_repo_url: Optional[str] = None
    license: Optional[str] = None
    license_name: Optional[str] = None
    license_link: Optional[str] = None
    base_models: Optional[List[Dict[str, Any]]] = None
    tags: Optional[List[str]] = None
    languages: Optional[List[str]] = None
    datasets: Optional[List[Dict[str, Any]]] = None

    @staticmethod
    def load(metadata_override_path: Optional[Path] = None, model_path: Optional[Path] = None,
             model_name: Optional[str] = None, total_params: int = 0) -> Metadata:
        """Loads all facts of a folder; a JSON file of keys and a name replace them."""
        metadata = Metadata.apply_metadata_heuristic(
            Metadata(), Metadata.load_model_card(model_path), Metadata.load_hf_parameters(model_path),
            model_path, total_params)
        generation = Metadata.load_generation_config(model_path)
        replacing = Metadata.load_metadata_override(metadata_override_path)
        for field in fields(Metadata):
            found = getattr(metadata, field.name)
            if field.name.startswith("sampling_"):
                member = field.name[len("sampling_"):]
                found = generation.get(_GENERATION_MEMBERS.get(field.name, member), found)
            # gguf-py lets no file replace the license.
            if field.name != "license":
                key = KEY_OF_FUNCTION.get(field.name, "general." + field.name)
                found = replacing.get(key, found)
            setattr(metadata, field.name, found)
        if model_name is not None:
            metadata.name = model_name
        return metadata

    @staticmethod
    def load_metadata_override(metadata_override_path: Optional[Path] = None) -> Dict[str, Any]:
        if metadata_override_path is None or not metadata_override_path.is_file():
            return {}
        return _read_object(metadata_override_path)

    @staticmethod
    def load_model_card(model_path: Optional[Path] = None) -> Dict[str, Any]:
        """The front matter of README.md. A scalar of it is a str: the language ``no`` stays one."""
        path = None if model_path is None else model_path / "README.md"
        if path is None or not path.is_file():
            return {}
        with path.open("rb") as file:
            card: Dict[str, Any] = _core.parse_model_card(file.read(_CARD_BYTES), str(path))
        return card

    @staticmethod
    def load_hf_parameters(model_path: Optional[Path] = None) -> Dict[str, Any]:
        path = None if model_path is None else model_path / "config.json"
        return {} if path is None or not path.is_file() else _read_object(path)

    @staticmethod
    def load_generation_config(model_path: Optional[Path] = None) -> Dict[str, Any]:
        path = None if model_path is None else model_path / "generation_config.json"
        try:
            return {} if path is None or not path.is_file() else _read_object(path)
        except (ValueError, OSError):
            return {}  # as gguf-py, which knows models with a broken one

    @staticmethod
    def id_to_title(string: Any) -> Any:
        """A name as a title: ``base-model`` is ``Base Model``."""
        return _core.model_title(string)

    @staticmethod
    def get_model_id_components(model_id: Optional[str] = None, total_params: int = 0) -> Parts:
        """The name, the organization, base name, finetune, version and size of ``org/Base-7B-v1``."""
        if model_id is None:
            return None, None, None, None, None, None
        bound = (1 << 63) - 1
        return _core.parse_model_id(model_id, max(-bound, min(total_params, bound)))

    @staticmethod
    def apply_metadata_heuristic(metadata: Metadata, model_card: Optional[Dict[str, Any]] = None,
                                 hf_params: Optional[Dict[str, Any]] = None,
                                 model_path: Optional[Path] = None, total_params: int = 0) -> Metadata:
        """Fills the gaps from a card, then from the name in a configuration, then from a folder's."""
        if model_card is not None:
            metadata._add_card(model_card, total_params)
        known_as = None if hf_params is None else hf_params.get("_name_or_path")
        # More slashes make it a path on the author's machine.
        if isinstance(known_as, str) and known_as.count("/") <= 1:
            metadata._add_name(known_as, total_params)
        if model_path is not None:
            metadata._add_name(model_path.name, total_params)
        return metadata

    def _offer(self, attribute: str, value: Any) -> None:
        """Sets what is not known yet."""
        if getattr(self, attribute) is None:
            setattr(self, attribute, value)

    def _extend(self, attribute: str, more: List[Any]) -> None:
        setattr(self, attribute, (getattr(self, attribute) or []) + more)

    def _add_card(self, card: Dict[str, Any], total_params: int) -> None:
        for prefix in ("", "model_"):
            for member, attribute in _CARD_MEMBERS:
                self._offer(attribute, card.get(prefix + member))
        for member, attribute in _OTHER_CARD_MEMBERS:
            self._offer(attribute, card.get(member))
        for attribute, names, _ in _SOURCES:
            found = [card[name] for name in names if name in card]
            if found:
                self._extend(attribute, [_source_of(one, total_params) for one in _as_list(found[0])])
        for attribute, both in _LISTS:
            for name in both:
                if card.get(name) is not None:
                    self._extend(attribute, _as_list(card[name]))

    def _add_name(self, model_id: str, total_params: int) -> None:
        name, organization, basename, finetune, version, size_label = \
            Metadata.get_model_id_components(model_id, total_params)
        self._offer("name", Metadata.id_to_title(name))
        self._offer("organization", organization and Metadata.id_to_title(organization))
        self._offer("basename", basename)
        self._offer("finetune", finetune)
        self._offer("version", version)
        self._offer("size_label", size_label)

    def set_gguf_meta_model(self, gguf_writer: Any) -> None:
        """Sets the keys of all that is known, in the order of gguf-py."""
        assert self.name is not None
        apart = ("base_models", "datasets", "tags", "languages")
        names = [field.name for field in fields(self) if field.name not in apart]
        licenses = [name for name in names if name.startswith("license")]
        names = [name for name in names if name not in licenses]
        place = names.index("size_label") + 1
        for name in names[:place] + licenses + names[place:]:
            value = getattr(self, name)
            if name == "license" and isinstance(value, list):
                value = ",".join(value)
            if value is not None:
                getattr(gguf_writer, "add_" + name)(value)
        for attribute, _, function in _SOURCES:
            sources = getattr(self, attribute)
            if sources is None:
                continue
            getattr(gguf_writer, f"add_{function}_count")(len(sources))
            for number, source in enumerate(sources):
                for member, value in source.items():
                    add = getattr(gguf_writer, f"add_{function}_{member}", None)
                    if add is not None:
                        add(number, value)
        for name in ("tags", "languages"):
            if getattr(self, name) is not None:
                getattr(gguf_writer, "add_" + name)(getattr(self, name))
