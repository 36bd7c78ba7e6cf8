// SPDX-License-Identifier: MIT
// Described results as dicts.
#pragma once

#include <concepts>
#include <ingot/describe.hpp>
#include <ingot/summary.hpp>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "python_bindings.hpp"

namespace ingot::python {

/// A vector as an array, without a copy.
template <class T>
py::array_t<T> array_of(std::vector<T> numbers, std::vector<py::ssize_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(numbers));
  const T* data = owned->data();
  const py::capsule owner(owned.release(),
                          [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  return py::array_t<T>(std::move(shape), data, owner);
}

template <class T>
py::array_t<T> array_of(std::vector<T> numbers) {
  const auto count = static_cast<py::ssize_t>(numbers.size());
  return array_of(std::move(numbers), {count});
}

template <class T>
[[nodiscard]] py::dict facts_of(const T& result);

/// The Python object of a member of a result.
template <class T>
[[nodiscard]] py::object fact_of(const T& value) {
  if constexpr (ingot::detail::is_optional<T>) {
    return value ? fact_of(*value) : py::object(py::none());
  } else if constexpr (std::same_as<T, TensorType>) {
    return to_str(type_name(value));
  } else if constexpr (std::same_as<T, LayerNumber>) {
    if (!value.is_per_layer) return py::int_(value.minimum);
    py::list layers;
    for (const Value layer : value.layers) {
      layers.append(py::int_(layer.get<std::uint64_t>().value_or(0)));
    }
    return layers;
  } else if constexpr (std::is_enum_v<T>) {
    return to_str(name_of(value));
  } else if constexpr (Described<T>) {
    return facts_of(value);
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return to_str(value);
  } else if constexpr (ingot::detail::is_map<T>) {
    py::dict named;
    for (const auto& [name, element] : value) named[to_str(name)] = fact_of(element);
    return named;
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    return array_of(value);
  } else if constexpr (std::ranges::range<T>) {
    return list_of(value, [](const auto& element) { return fact_of(element); });
  } else {
    return py::cast(value);
  }
}

/// The visitor that puts each member of a result into a dict.
struct FactDict {
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view, std::string_view) {
    facts[to_str(name)] = fact_of(value);
  }
  py::dict facts;
};

/// The members of a result by the names that the program's JSON has.
template <class T>
py::dict facts_of(const T& result) {
  FactDict members;
  describe(members, result);
  return members.facts;
}

}  // namespace ingot::python
