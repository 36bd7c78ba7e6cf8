# SPDX-License-Identifier: MIT
"""GGUFWriter: keys and tensors in the order of the calls, then the file."""
import fcntl
import logging
import os
import stat
import time
from enum import Enum
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

import numpy as np

from ingot import _codec, _core, _values
from ingot.gguf.constants import (GGUF_DEFAULT_ALIGNMENT, GGMLQuantizationType, GGUFEndian, GGUFValueType,
                        KEY_OF_FUNCTION, Keys, TYPE_OF_KEY, VALUE_TYPE_NAMES)
from ingot.gguf.quants import quant_shape_from_byte_shape

__all__ = ["GGUFWriter"]

_OF_DTYPE = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64"}

_logger = logging.getLogger(__name__)


def _open_alone(path: "Union[str, os.PathLike[str]]") -> BinaryIO:
    """Opens a file to write it anew, and locks it until it is closed: an edit of the older file
    ends first, and others that edit or replace this one wait."""
    deadline = time.monotonic() + 10
    while True:
        file = open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666), "wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
            continue
        except OSError:
            pass  # a file system without locks
        status = os.fstat(file.fileno())
        if not os.path.exists(path) or not os.path.samestat(status, os.stat(path)):
            file.close()  # another one has got the name
            continue
        if stat.S_ISREG(status.st_mode):
            file.truncate(0)
        return file


class _Tensor(NamedTuple):
    shape: Tuple[int, ...]
    type: Any
    nbytes: int


def _element_type(values: Sequence[Any]) -> Any:
    types = {GGUFValueType.get_type(value) for value in values}
    if len(types) > 1:
        raise ValueError("All items in a GGUF array should be of the same type")
    return types.pop()


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
        self._keys: Set[str] = set()
        self._tensors: Dict[str, _Tensor] = {}
        self._data: Dict[str, Any] = {}
        self._file: Optional[BinaryIO] = None
        self._state = "no file"
        self.add_string(Keys.General.ARCHITECTURE, arch)

    # --- keys ---------------------------------------------------------------------------------------

    def add_key_value(self, key: str, val: Any, vtype: Any, sub_type: Any = None) -> None:
        """Sets a key; an array without `sub_type` gets the type of its elements."""
        if key in self._keys:
            _logger.warning("Duplicated key name %r, overwriting it", key)
        self._keys.add(key)
        name = VALUE_TYPE_NAMES[int(vtype)]
        if vtype == GGUFValueType["ARRAY"]:
            if len(val) == 0:
                raise ValueError("Invalid GGUF metadata array. Empty array")
            if sub_type is None:
                sub_type = GGUFValueType["UINT8"] if isinstance(val, bytes) else _element_type(val)
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
        if alignment <= 0 or alignment & (alignment - 1):
            raise ValueError("Invalid alignment: must be a non-zero power of two")
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
                    self.add_string(Keys.Tokenizer.CHAT_TEMPLATE_N.format(name=name), template)
            if names:
                self.add_array(Keys.Tokenizer.CHAT_TEMPLATES, names)
            if default is None:
                return
            value = default
        self.add_string(Keys.Tokenizer.CHAT_TEMPLATE, value)

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...  # add_NAME, which _add_functions makes

    def _add_standard(self, key: str, value: Any) -> None:
        """A standard key has its usual type, a list that of its first element."""
        is_list = not isinstance(value, (str, bytes)) and hasattr(value, "__len__")
        if is_list or isinstance(value, bytes) and _core.usual_type(key, self.arch, True).startswith("["):
            self.add_array(key, value)
        elif value != "":
            value = value.value if isinstance(value, Enum) else value
            self._core.set(key, *_values.typed(key, value, TYPE_OF_KEY.get(key), self.arch))

    # --- tensors ------------------------------------------------------------------------------------

    def add_tensor_info(self, name: str, tensor_shape: Sequence[int], tensor_dtype: Any,
                        tensor_nbytes: int, raw_dtype: Any = None) -> None:
        """Announces a tensor, whose data `write_tensor_data` writes."""
        if self._state != "no file":
            raise ValueError(f"Expected no output file yet, got one with {self._state}")
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
        self._expect("no file", "header")
        self._file = _open_alone(self.path)

    def write_kv_data_to_file(self) -> None:
        """Writes everything before the data as one: here, or with the tensors if there are any."""
        self._expect("header", "keys")
        if self._tensors:
            return
        header = self._header()
        # A file without data has no padding before it.
        self._write(header[:_core.open_bytes(header, True, True, False, {}).files()[0]["header_bytes"]])

    def write_ti_data_to_file(self) -> None:
        self._expect("keys", "tensors")
        for name, tensor in self._tensors.items():
            self._core.add_bytes(name, tensor.type.name, tensor.shape[::-1], b"")
        if self._tensors:
            self._write(self._header())
        self._pending: List[str] = list(self._tensors)

    def _expect(self, state: str, next_state: str) -> None:
        """The functions that write have an order."""
        if self._state != state:
            raise ValueError(f"Expected output file with {state}, got {self._state}")
        self._state = next_state

    def _header(self) -> bytes:
        return self._core.header(3, "big" if self.endianess == GGUFEndian.BIG else "little")

    def _write(self, content: Any) -> None:
        assert self._file is not None
        self._file.write(content)

    def write_tensor_data(self, tensor: Any, tensor_endianess: Any = None, raw_dtype: Any = None) -> None:
        """Writes the data of the next tensor."""
        if self._state != "tensors" or not self._pending:
            raise ValueError(f"Expected output file with tensors to come, got {self._state}")
        name = self._pending.pop(0)
        data = self._in_order(tensor, tensor_endianess, self._tensors[name].type)
        if data.nbytes != self._tensors[name].nbytes:
            raise ValueError(f"{name}: {data.nbytes} bytes, {self._tensors[name].nbytes} were announced")
        self._write(data.data.cast("B") if data.size else b"")
        self._write(bytes(-data.nbytes % self.data_alignment))

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


def _setter(key: str) -> Any:
    """The function for a key, which takes the number of the model or dataset where the key has one."""
    def add(self: GGUFWriter, *arguments: Any) -> None:
        *numbers, value = arguments
        name = key.replace("{id}", str(numbers[0])) if numbers else key
        self._add_standard(name.replace("{arch}", self.arch), value)
    add.__doc__ = f"Sets {key}."
    return add


def _typed_setter(type: Any) -> Any:
    def add(self: GGUFWriter, key: str, val: Any) -> None:
        self.add_key_value(key, val, type)
    add.__doc__ = f"Sets a key of type {type.name}."
    return add


def _add_functions() -> None:
    """Gives the class an add_... for each standard key and each type of numbers."""
    functions = {name: _setter(key) for name, key in KEY_OF_FUNCTION.items()}
    functions.update({type.name.lower(): _typed_setter(type) for type in GGUFValueType})
    for name, function in functions.items():
        if not hasattr(GGUFWriter, "add_" + name):
            setattr(GGUFWriter, "add_" + name, function)


_add_functions()
