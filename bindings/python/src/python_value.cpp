// SPDX-License-Identifier: MIT
// Metadata values to Python and back.
#include <algorithm>
#include <bit>
#include <ingot/types.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

/// NumPy's code of the element type of an array; empty for strings and arrays.
std::string numpy_code(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "?";
    case ValueType::string:
    case ValueType::array:
      return "";
    default:
      break;
  }
  const char kind = is_float(type) ? 'f' : (name_of(type).front() == 'u' ? 'u' : 'i');
  return kind + std::to_string(size_bytes_of(type));
}

/// Numbers where they are. Bools that are neither 0 nor 1, which a lenient reader lets pass, would
/// be undefined behaviour in NumPy: they are copied.
py::object number_array(const Array& array, Endian byte_order, const py::object& owner) {
  const ValueType type = array.element_type();
  const std::span<const std::byte> bytes = array.bytes();
  const py::dtype dtype((byte_order == Endian::big ? ">" : "<") + numpy_code(type));
  const auto count = static_cast<py::ssize_t>(array.size());
  if (type == ValueType::boolean &&
      std::ranges::any_of(bytes, [](std::byte byte) { return byte > std::byte{1}; })) {
    py::array_t<bool> copy(count);
    std::ranges::transform(bytes, copy.mutable_data(),
                           [](std::byte byte) { return byte != std::byte{0}; });
    return copy;
  }
  if (owner.is_none()) {
    // In an edit, new values may have another byte order than those of the file; each value knows
    // its own.
    py::list numbers;
    for (const Value& number : array) numbers.append(to_python(number, byte_order, owner));
    return py::module_::import("numpy").attr("array")(numbers, numpy_code(type));
  }
  py::array view(dtype, {count}, bytes.data(), owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

/// The elements of an array of strings or arrays, made into objects when they are asked for.
struct Elements {
  Array array;
  Endian byte_order = Endian::little;
  py::object owner;

  [[nodiscard]] py::object make(const Value& value, bool as_bytes) const {
    if (value.type() != ValueType::string) return to_python(value, byte_order, owner);
    const std::span<const std::byte> bytes = value.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (as_bytes) return py::bytes(text.data(), text.size());
    return to_str(text);
  }
};

/// Goes through elements from front to back.
struct Cursor {
  Elements elements;
  Array::Iterator next;
  std::uint64_t remaining = 0;

  py::list take_some(std::uint64_t count, bool as_bytes) {
    count = std::min(count, remaining);
    py::list list(count);
    for (std::uint64_t i = 0; i < count; ++i, ++next) {
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                      elements.make(*next, as_bytes).release().ptr());
      --remaining;
    }
    return list;
  }
};

/// Reads "[uint32]" as far as the element type; throws Failed.
ValueType element_type_of(std::string_view type) {
  const std::string_view inner = type.substr(1, type.size() - 2);
  if (!inner.empty() && inner.front() == '[') return ValueType::array;
  const std::optional<ValueType> found = find_value_type(inner);
  if (!found) throw Failed{Error{Errc::invalid_argument, Error::no_offset, std::string(type), {}}};
  return *found;
}

OwnedValue number_from(const py::handle& object, ValueType type) {
  switch (type) {
    case ValueType::float32:
      return OwnedValue::number(py::cast<float>(object));
    case ValueType::float64:
      return OwnedValue::number(py::cast<double>(object));
    case ValueType::uint8:
      return OwnedValue::number(py::cast<std::uint8_t>(object));
    case ValueType::int8:
      return OwnedValue::number(py::cast<std::int8_t>(object));
    case ValueType::uint16:
      return OwnedValue::number(py::cast<std::uint16_t>(object));
    case ValueType::int16:
      return OwnedValue::number(py::cast<std::int16_t>(object));
    case ValueType::uint32:
      return OwnedValue::number(py::cast<std::uint32_t>(object));
    case ValueType::int32:
      return OwnedValue::number(py::cast<std::int32_t>(object));
    case ValueType::uint64:
      return OwnedValue::number(py::cast<std::uint64_t>(object));
    default:
      return OwnedValue::number(py::cast<std::int64_t>(object));
  }
}

template <class T>
OwnedValue numbers_from(const Buffer& buffer) {
  const std::span<const std::byte> bytes = buffer.bytes();
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), numbers.size() * sizeof(T),
              reinterpret_cast<std::byte*>(numbers.data()));
  return OwnedValue::array_of<T>(numbers);
}

OwnedValue numbers_of(const Buffer& buffer, ValueType type) {
  switch (type) {
    case ValueType::float32:
      return numbers_from<float>(buffer);
    case ValueType::float64:
      return numbers_from<double>(buffer);
    case ValueType::uint8:
      return numbers_from<std::uint8_t>(buffer);
    case ValueType::int8:
      return numbers_from<std::int8_t>(buffer);
    case ValueType::uint16:
      return numbers_from<std::uint16_t>(buffer);
    case ValueType::int16:
      return numbers_from<std::int16_t>(buffer);
    case ValueType::uint32:
      return numbers_from<std::uint32_t>(buffer);
    case ValueType::int32:
      return numbers_from<std::int32_t>(buffer);
    case ValueType::uint64:
      return numbers_from<std::uint64_t>(buffer);
    default:
      return numbers_from<std::int64_t>(buffer);
  }
}

OwnedValue array_from(const py::handle& object, std::string_view type) {
  const ValueType element_type = element_type_of(type);
  const bool is_number = is_integer(element_type) || is_float(element_type);
  if (is_number) return numbers_of(Buffer(object), element_type);
  OwnedValue array = OwnedValue::array(element_type);
  const std::string_view inner = type.substr(1, type.size() - 2);
  for (const py::handle& element : object) take(array.append(to_owned(element, inner)));
  return array;
}

}  // namespace

py::object to_python(const Value& value, Endian byte_order, const py::object& owner) {
  switch (value.type()) {
    case ValueType::string:
      return to_str(take(value.get<std::string_view>()));
    case ValueType::boolean:
      return py::bool_(take(value.get<bool>()));
    case ValueType::float32:
    case ValueType::float64:
      return py::float_(take(value.get<double>()));
    case ValueType::array:
      break;
    case ValueType::int8:
    case ValueType::int16:
    case ValueType::int32:
    case ValueType::int64:
      return py::int_(take(value.get<std::int64_t>()));
    default:
      return py::int_(take(value.get<std::uint64_t>()));
  }
  const Array array = value.as_array();
  if (!numpy_code(array.element_type()).empty()) return number_array(array, byte_order, owner);
  Elements elements{array, byte_order, owner};
  if (!owner.is_none()) return py::cast(std::move(elements));
  py::list list;
  for (const Value& element : array) list.append(elements.make(element, false));
  return list;
}

OwnedValue to_owned(const py::handle& object, std::string_view type) {
  if (type.size() > 2 && type.front() == '[' && type.back() == ']') return array_from(object, type);
  const std::optional<ValueType> scalar = find_value_type(type);
  if (!scalar || *scalar == ValueType::array) {
    throw Failed{Error{Errc::invalid_argument, Error::no_offset, std::string(type),
                       "a type of values is meant, such as uint32 or [string]"}};
  }
  if (*scalar == ValueType::string) return OwnedValue::string(text_from(object));
  if (*scalar == ValueType::boolean) return OwnedValue::boolean(py::cast<bool>(object));
  return number_from(object, *scalar);
}

std::string type_text(const Value& value) {
  if (!value.is_array()) return std::string(name_of(value.type()));
  const Array array = value.as_array();
  if (array.element_type() != ValueType::array || array.empty()) {
    return "[" + std::string(name_of(array.element_type())) + "]";
  }
  return "[" + type_text(*array.begin()) + "]";
}

void add_values(py::module_& module) {
  py::class_<Cursor>(module, "Cursor")
      .def("take", &Cursor::take_some, py::arg("count"), py::arg("as_bytes") = false);
  py::class_<Elements>(module, "Elements")
      .def("__len__", [](const Elements& self) { return self.array.size(); })
      .def_property_readonly(
          "type",
          [](const Elements& self) { return std::string(name_of(self.array.element_type())); })
      .def(
          "get",
          [](const Elements& self, std::uint64_t index, bool as_bytes) {
            if (index >= self.array.size()) throw py::index_error("index out of range");
            return self.make(self.array[index], as_bytes);
          },
          py::arg("index"), py::arg("as_bytes") = false)
      .def("cursor", [](const Elements& self) {
        return Cursor{self, self.array.begin(), self.array.size()};
      });
}

}  // namespace ingot::python
