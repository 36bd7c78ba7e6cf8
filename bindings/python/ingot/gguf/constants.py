# SPDX-License-Identifier: MIT
"""Numbers and names, made of the tables of the library."""
from enum import IntEnum
from typing import Any, Dict, Tuple

from .. import _core

GGUF_MAGIC = 0x46554747
GGUF_VERSION = 3
GGUF_DEFAULT_ALIGNMENT = 32
GGML_QUANT_VERSION = 2


class GGUFEndian(IntEnum):
    LITTLE = 0
    BIG = 1


GGMLQuantizationType: Any = IntEnum(  # type: ignore[misc]
    "GGMLQuantizationType", {row[0]: row[1] for row in _core.tensor_types})

#: Elements and bytes of a block.
GGML_QUANT_SIZES: Dict[Any, Tuple[int, int]] = {
    GGMLQuantizationType(row[1]): (row[2], row[3]) for row in _core.tensor_types
}


class _ValueType(IntEnum):
    """The methods of GGUFValueType; the members come from the table."""

    @classmethod
    def get_type(cls, value: Any) -> Any:
        """The type of a Python value: int is INT32, float FLOAT32, as gguf-py has it."""
        if isinstance(value, (str, bytes, bytearray)):
            return cls["STRING"]
        if isinstance(value, list):
            return cls["ARRAY"]
        if isinstance(value, bool):
            return cls["BOOL"]
        if isinstance(value, float):
            return cls["FLOAT32"]
        if isinstance(value, int):
            return cls["INT32"]
        raise ValueError(f"Unknown type: {type(value)}")


_enumerate: Any = _ValueType
GGUFValueType: Any = _enumerate("GGUFValueType", {row[2]: row[1] for row in _core.value_types})

#: Ingot's name of a type by its number: "uint32".
VALUE_TYPE_NAMES: Dict[int, str] = {row[1]: row[0] for row in _core.value_types}

LlamaFileType: Any = IntEnum(  # type: ignore[misc]
    "LlamaFileType",
    {("ALL_" if row[0] == "F32" else "MOSTLY_") + row[0]: row[1] for row in _core.file_types}
    | {"GUESSED": 1024})


class TokenType(IntEnum):
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


# What gguf-py calls keys whose name would be another by the rule below.
_OTHER_NAMES = {
    "tokenizer.ggml.tokens": "LIST", "tokenizer.ggml.token_type_count": "TOKEN_TYPE_COUNT",
    "tokenizer.huggingface.json": "HF_JSON", "tokenizer.rwkv.world": "RWKV",
    "tokenizer.ggml.unknown_token_id": "UNK_ID", "tokenizer.ggml.seperator_token_id": "SEP_ID",
    "tokenizer.ggml.padding_token_id": "PAD_ID", "tokenizer.ggml.add_bos_token": "ADD_BOS",
    "tokenizer.ggml.add_eos_token": "ADD_EOS", "tokenizer.ggml.add_space_prefix": "ADD_PREFIX",
    "tokenizer.ggml.remove_extra_whitespaces": "REMOVE_EXTRA_WS",
    "attention.max_alibi_bias": "MAX_ALIBI_BIAS", "attention.clamp_kqv": "CLAMP_KQV",
    "attention.layer_norm_epsilon": "LAYERNORM_EPS",
    "attention.layer_norm_rms_epsilon": "LAYERNORM_RMS_EPS",
    "split.no": "LLM_KV_SPLIT_NO", "split.count": "LLM_KV_SPLIT_COUNT",
    "split.tensors.count": "LLM_KV_SPLIT_TENSORS_COUNT",
}

# The classes of Keys, and how the keys of each begin: the first that fits.
_GROUPS = (("General", "general."), ("Split", "split."), ("Tokenizer", "tokenizer.ggml."),
           ("Tokenizer", "tokenizer."), ("Attention", "attention."), ("Rope", "rope."),
           ("SSM", "ssm."), ("WKV", "wkv."), ("Adapter", "adapter."), ("LLM", ""))


def _attribute(key: str, prefix: str) -> str:
    other = _OTHER_NAMES.get(key)
    if other:
        return other
    name = key[len(prefix):].upper().replace(".", "_")
    # gguf-py says BOS_ID for bos_token_id.
    return name[:-len("_TOKEN_ID")] + "_ID" if name.endswith("_TOKEN_ID") else name


def _make_keys() -> Any:
    groups: Dict[str, Dict[str, str]] = {name: {} for name, _ in _GROUPS}
    for key, has_architecture, _, _ in _core.standard_keys():
        group, prefix = next((group, prefix) for group, prefix in _GROUPS
                             if key.startswith(prefix))
        groups[group][_attribute(key, prefix)] = "{arch}." + key if has_architecture else key
    groups["General"].setdefault("TYPE", "general.type")
    members: Dict[str, Any] = {name: type(name, (), dict(keys)) for name, keys in groups.items()}
    return type("Keys", (), {"__doc__": "Names of keys, by subject.", **members})


Keys = _make_keys()
