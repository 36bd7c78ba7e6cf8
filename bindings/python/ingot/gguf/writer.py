# SPDX-License-Identifier: MIT
"""GGUFWriter: keys and tensors in the order of the calls, then the file."""
import os
from typing import Any, BinaryIO, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _codec, _core, _values
from .constants import (GGUF_DEFAULT_ALIGNMENT, GGMLQuantizationType, GGUFEndian, GGUFValueType, Keys,
                        VALUE_TYPE_NAMES)
from .quants import quant_shape_from_byte_shape

_OF_DTYPE = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64"}

# What gguf-py calls the functions for keys that its own names do not spell: add_NAME(value).
_OTHER_FUNCTIONS = {
    "head_count": "{arch}.attention.head_count", "head_count_kv": "{arch}.attention.head_count_kv",
    "key_length": "{arch}.attention.key_length", "value_length": "{arch}.attention.value_length",
    "layer_norm_eps": "{arch}.attention.layer_norm_epsilon",
    "layer_norm_rms_eps": "{arch}.attention.layer_norm_rms_epsilon",
    "sliding_window": "{arch}.attention.sliding_window", "causal_attention": "{arch}.attention.causal",
    "rope_dimension_count": "{arch}.rope.dimension_count", "rope_freq_base": "{arch}.rope.freq_base",
    "rope_scaling_type": "{arch}.rope.scaling.type", "rope_scaling_factor": "{arch}.rope.scaling.factor",
    "tokenizer_model": "tokenizer.ggml.model", "tokenizer_pre": "tokenizer.ggml.pre",
    "token_list": "tokenizer.ggml.tokens", "token_merges": "tokenizer.ggml.merges",
    "token_types": "tokenizer.ggml.token_type", "token_scores": "tokenizer.ggml.scores",
    "token_type_count": "tokenizer.ggml.token_type_count",
    "unk_token_id": "tokenizer.ggml.unknown_token_id", "sep_token_id": "tokenizer.ggml.seperator_token_id",
    "pad_token_id": "tokenizer.ggml.padding_token_id",
}


class _Tensor(NamedTuple):
    shape: Tuple[int, ...]
    type: Any
    nbytes: int


class GGUFWriter:
    """Writes one file. Call `add_...` first, then `write_header_to_file`, `write_kv_data_to_file`, and
    `write_tensors_to_file`, or `write_ti_data_to_file` and `write_tensor_data` for each tensor;
    `close` at the end.

    Each standard key has its ``add_...`` function, such as ``add_block_count(32)``.
    """

    def __init__(self, path: "Union[str, os.PathLike[str], None]", arch: str, use_temp_file: bool = False,
                 endianess: Any = GGUFEndian.LITTLE, split_max_tensors: int = 0,
                 split_max_size: int = 0, dry_run: bool = False, small_first_shard: bool = False) -> None:
        if split_max_tensors or split_max_size or small_first_shard:
            raise NotImplementedError("ingot.split cuts files")
        self.path = path
        self.arch = arch
        self.endianess = endianess
        self.data_alignment = GGUF_DEFAULT_ALIGNMENT
        self._core = _core.Writer()
        self._types: Dict[str, str] = {}
        self._tensors: Dict[str, _Tensor] = {}
        self._data: Dict[str, Any] = {}
        self._file: Optional[BinaryIO] = None
        self.add_string(Keys.General.ARCHITECTURE, arch)

    # --- keys ---------------------------------------------------------------------------------------

    def add_key_value(self, key: str, val: Any, vtype: Any, sub_type: Any = None) -> None:
        """Sets a key; an array without `sub_type` gets the type of its first element."""
        name = VALUE_TYPE_NAMES[int(vtype)]
        if vtype == GGUFValueType["ARRAY"]:
            if len(val) == 0:
                raise ValueError("Invalid GGUF metadata array. Empty array")
            if sub_type is None:
                sub_type = GGUFValueType["UINT8"] if isinstance(val, bytes) else \
                    GGUFValueType.get_type(val[0])
            name = f"[{VALUE_TYPE_NAMES[int(sub_type)]}]"
            if isinstance(val, bytes):
                val = np.frombuffer(val, np.uint8)
        plain, type = _values.typed(key, val, name, self.arch)
        self._core.set(key, plain, type)

    def add_array(self, key: str, val: Sequence[Any]) -> None:
        if len(val):
            self.add_key_value(key, val, GGUFValueType["ARRAY"])

    def add_string(self, key: str, val: str) -> None:
        if val:
            self.add_key_value(key, val, GGUFValueType["STRING"])

    def add_custom_alignment(self, alignment: int) -> None:
        self.data_alignment = alignment
        self.add_key_value(Keys.General.ALIGNMENT, alignment, GGUFValueType["UINT32"])

    def add_chat_template(self, value: Any) -> None:
        """A template, or a list of dicts with ``name`` and ``template``."""
        if not isinstance(value, str):
            names = []
            default = None
            for choice in value:
                name, template = choice.get("name", ""), choice.get("template")
                name = "".join(letter if letter.isascii() and letter.isalnum() or letter == "_" else "_"
                               for letter in name)
                if not name or template is None:
                    continue
                if name == "default":
                    default = template
                else:
                    names.append(name)
                    self.add_string(f"{Keys.Tokenizer.CHAT_TEMPLATE}.{name}", template)
            if names:
                self.add_array(Keys.Tokenizer.CHAT_TEMPLATES, names)
            if default is None:
                return
            value = default
        self.add_string(Keys.Tokenizer.CHAT_TEMPLATE, value)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("add_"):
            raise AttributeError(name)
        what = name[len("add_"):]
        if what.upper() in GGUFValueType.__members__:
            return lambda key, val: self.add_key_value(key, val, GGUFValueType[what.upper()])
        key = _key_of_function(what)
        if key is None:
            raise AttributeError(name)
        return lambda value: self._add_standard(key.replace("{arch}", self.arch), value)

    def _add_standard(self, key: str, value: Any) -> None:
        is_array = not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
        if is_array and len(value) == 0:
            return
        plain, type = _values.typed(key, value, None, self.arch)
        self._core.set(key, plain, type)

    # --- tensors ------------------------------------------------------------------------------------

    def add_tensor_info(self, name: str, tensor_shape: Sequence[int], tensor_dtype: Any,
                        tensor_nbytes: int, raw_dtype: Any = None) -> None:
        """Announces a tensor, whose data `write_tensor_data` writes."""
        if name in self._tensors:
            raise ValueError(f"Duplicated tensor name {name!r}")
        dtype = np.dtype(tensor_dtype)
        if raw_dtype is None:
            known = _OF_DTYPE.get(dtype.str[1:])
            if known is None:
                raise ValueError("Only F16, F32, F64, I8, I16, I32, I64 tensors are supported for now")
            raw_dtype = GGMLQuantizationType[known]
        elif dtype == np.uint8:
            tensor_shape = quant_shape_from_byte_shape(tensor_shape, raw_dtype)
        self._tensors[name] = _Tensor(tuple(int(one) for one in tensor_shape),
                                      GGMLQuantizationType(raw_dtype), int(tensor_nbytes))

    def add_tensor(self, name: str, tensor: Any, raw_shape: Optional[Sequence[int]] = None,
                   raw_dtype: Any = None, tensor_endianess: Any = None) -> None:
        """Adds a tensor with its data, which is borrowed until it is written."""
        shape = tensor.shape if raw_shape is None else raw_shape
        self.add_tensor_info(name, shape, tensor.dtype, tensor.nbytes, raw_dtype)
        self._data[name] = self._in_order(tensor, tensor_endianess, self._tensors[name].type)

    def _in_order(self, tensor: Any, order: Any, type: Any) -> Any:
        """The data in the byte order of the file; blocks, too, have fields of several bytes."""
        native = GGUFEndian.LITTLE if np.little_endian else GGUFEndian.BIG
        array = np.ascontiguousarray(tensor)
        if not array.dtype.isnative:  # as a reader of a file in the other order has it
            array = array.view(array.dtype.newbyteorder("="))
        if (native if order is None else order) == self.endianess:
            return array
        if array.dtype == np.uint8:
            return _codec.swap_byte_order(array, type.name)
        return array.byteswap()

    # --- the file -----------------------------------------------------------------------------------

    def write_header_to_file(self, path: "Union[str, os.PathLike[str], None]" = None) -> None:
        self.path = path if path is not None else self.path
        if self.path is None:
            raise ValueError("the path of the file is needed")
        self._file = open(self.path, "wb")

    def write_kv_data_to_file(self) -> None:
        """What comes before the tensors is written as one, by `write_ti_data_to_file`."""
        if self._file is None:
            raise ValueError("Expected output file to contain the header")

    def write_ti_data_to_file(self) -> None:
        for name, tensor in self._tensors.items():
            self._core.add_bytes(name, tensor.type.name, tensor.shape[::-1], b"")
        order = "big" if self.endianess == GGUFEndian.BIG else "little"
        header = self._core.header(3, order)
        if not self._tensors:
            # Without data there is no padding before it.
            end = _core.open_bytes(header, True, True, {}).files()[0]["header_bytes"]
            header = header[:end]
        assert self._file is not None
        self._file.write(header)
        self._pending: List[str] = list(self._tensors)

    def write_tensor_data(self, tensor: Any, tensor_endianess: Any = None, raw_dtype: Any = None) -> None:
        """Writes the data of the next tensor."""
        assert self._file is not None
        name = self._pending.pop(0)
        data = self._in_order(tensor, tensor_endianess, self._tensors[name].type)
        if data.nbytes != self._tensors[name].nbytes:
            raise ValueError(f"{name}: {data.nbytes} bytes, {self._tensors[name].nbytes} were announced")
        self._file.write(data.data.cast("B") if data.size else b"")
        self._file.write(bytes(-data.nbytes % self.data_alignment))

    def write_tensors_to_file(self, *, progress: bool = False) -> None:
        self.write_ti_data_to_file()
        for name in list(self._pending):
            # The data is in the order of the file already.
            self.write_tensor_data(self._data[name], self.endianess)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _key_of_function(what: str) -> Optional[str]:
    """The key that add_WHAT sets: by the table above, or by the names of standard keys."""
    if what in _OTHER_FUNCTIONS:
        return _OTHER_FUNCTIONS[what]
    for key, has_architecture, _, _ in _core.standard_keys():
        for prefix in ("general.", "tokenizer.ggml.", "tokenizer.", ""):
            if key.startswith(prefix) and key[len(prefix):].replace(".", "_") == what:
                return "{arch}." + key if has_architecture else key
    return None
