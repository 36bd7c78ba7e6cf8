# SPDX-License-Identifier: MIT
"""Numbers and names, made of the tables of the library."""
from enum import IntEnum
from typing import Any, Dict, Tuple

from ingot import _core

__all__ = ["GGML_QUANT_SIZES", "GGUF_DEFAULT_ALIGNMENT", "GGUF_MAGIC", "GGUF_VERSION",
           "GGMLQuantizationType", "GGUFEndian", "GGUFValueType", "Keys", "LlamaFileType",
           "TokenType"]

GGUF_MAGIC = 0x46554747
GGUF_VERSION = 3
GGUF_DEFAULT_ALIGNMENT = 32
GGML_QUANT_VERSION = 2


class GGUFEndian(IntEnum):
    LITTLE = 0
    BIG = 1


GGMLQuantizationType: Any = IntEnum(  # type: ignore[misc]
    "GGMLQuantizationType", {row["type"]: row["id"] for row in _core.tensor_types})

#: Elements and bytes of a block.
GGML_QUANT_SIZES: Dict[Any, Tuple[int, int]] = {
    GGMLQuantizationType(row["id"]): (row["block_elements"], row["block_bytes"])
    for row in _core.tensor_types
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


# The names of keys in gguf-py's Keys, and in the name of the function add_...; "" follows the rules
# below.
_OTHER_NAMES = {
    "tokenizer.ggml.model": ("", "tokenizer_model"), "tokenizer.ggml.pre": ("", "tokenizer_pre"),
    "tokenizer.ggml.tokens": ("LIST", "token_list"), "tokenizer.ggml.merges": ("", "token_merges"),
    "tokenizer.ggml.token_type": ("", "token_types"), "tokenizer.ggml.scores": ("", "token_scores"),
    "tokenizer.ggml.unknown_token_id": ("UNK_ID", "unk_token_id"),
    "tokenizer.ggml.seperator_token_id": ("SEP_ID", "sep_token_id"),
    "tokenizer.ggml.padding_token_id": ("PAD_ID", "pad_token_id"),
    "tokenizer.ggml.add_bos_token": ("ADD_BOS", ""), "tokenizer.ggml.add_eos_token": ("ADD_EOS", ""),
    "tokenizer.ggml.add_sep_token": ("ADD_SEP", ""),
    "tokenizer.ggml.add_space_prefix": ("ADD_PREFIX", ""),
    "tokenizer.ggml.remove_extra_whitespaces": ("REMOVE_EXTRA_WS", ""),
    "tokenizer.huggingface.json": ("HF_JSON", ""), "tokenizer.rwkv.world": ("RWKV", ""),
    "attention.layer_norm_epsilon": ("LAYERNORM_EPS", "layer_norm_eps"),
    "attention.layer_norm_rms_epsilon": ("LAYERNORM_RMS_EPS", "layer_norm_rms_eps"),
    "attention.causal": ("", "causal_attention"), "use_parallel_residual": ("", "parallel_residual"),
    "rope.scaling.original_context_length": ("SCALING_ORIG_CTX_LEN", "rope_scaling_orig_ctx_len"),
    "split.no": ("LLM_KV_SPLIT_NO", ""), "split.count": ("LLM_KV_SPLIT_COUNT", ""),
    "split.tensors.count": ("LLM_KV_SPLIT_TENSORS_COUNT", ""),
}

# The keys of each model and dataset below general.base_model.ID. and general.dataset.ID.
_OF_EACH = ("name", "author", "version", "organization", "description", "url", "doi", "uuid", "repo_url")

# Further keys that gguf-py has functions for, and the types of their values.
TYPE_OF_KEY = {
    "general.source.doi": "string", "general.source.uuid": "string",
    "general.sampling.sequence": "string", "general.sampling.top_k": "int32",
    "general.sampling.top_p": "float32", "general.sampling.min_p": "float32",
    "general.sampling.xtc_probability": "float32", "general.sampling.xtc_threshold": "float32",
    "general.sampling.temp": "float32", "general.sampling.penalty_last_n": "int32",
    "general.sampling.penalty_repeat": "float32", "general.sampling.mirostat": "int32",
    "general.sampling.mirostat_tau": "float32", "general.sampling.mirostat_eta": "float32",
}

# The classes of Keys, and how the keys of each begin: the first that fits.
_GROUPS = (("General", "general."), ("Split", "split."), ("Tokenizer", "tokenizer.ggml."),
           ("Tokenizer", "tokenizer."), ("Attention", "attention."), ("Rope", "rope."),
           ("SSM", "ssm."), ("WKV", "wkv."), ("Adapter", "adapter."), ("LLM", ""))
# The groups whose prefix is not in the names of functions.
_WITHOUT_PREFIX = ("General", "Tokenizer", "Attention")


def _attribute(key: str, prefix: str) -> str:
    name = _OTHER_NAMES.get(key, ("", ""))[0] or key[len(prefix):].upper().replace(".", "_")
    # gguf-py says BOS_ID for bos_token_id.
    return name[:-len("_TOKEN_ID")] + "_ID" if name.endswith("_TOKEN_ID") else name


def _function(key: str, group: str, prefix: str) -> str:
    name = key[len(prefix):] if group in _WITHOUT_PREFIX else key
    return _OTHER_NAMES.get(key, ("", ""))[1] or name.replace(".", "_")


def _make_keys() -> Tuple[Any, Dict[str, str]]:
    groups: Dict[str, Dict[str, str]] = {name: {} for name, _ in _GROUPS}
    functions: Dict[str, str] = {}
    standard = [(key, has_architecture) for key, has_architecture, _, _ in _core.standard_keys()]
    for key, has_architecture in standard + [(key, False) for key in TYPE_OF_KEY]:
        group, prefix = next((group, prefix) for group, prefix in _GROUPS
                             if key.startswith(prefix))
        whole = "{arch}." + key if has_architecture else key
        groups[group][_attribute(key, prefix)] = whole
        functions[_function(key, group, prefix)] = whole
    for kind in ("base_model", "dataset"):
        for what in _OF_EACH:
            key = f"general.{kind}.{{id}}.{what}"
            groups["General"][f"{kind}_{what}".upper()] = functions[f"{kind}_{what}"] = key
        groups["General"][f"{kind}_count".upper()] = functions[f"{kind}_count"] = f"general.{kind}.count"
    groups["Tokenizer"]["CHAT_TEMPLATE_N"] = groups["Tokenizer"]["CHAT_TEMPLATE"] + ".{name}"
    members: Dict[str, Any] = {name: type(name, (), dict(keys)) for name, keys in groups.items()}
    return type("Keys", (), {"__doc__": "Names of keys, by subject.", **members}), functions


#: The keys by subject; and the key that each function add_... of GGUFWriter sets.
Keys, KEY_OF_FUNCTION = _make_keys()
