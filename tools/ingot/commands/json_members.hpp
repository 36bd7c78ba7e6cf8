// SPDX-License-Identifier: MIT
// Described results as JSON.
#pragma once

#include <concepts>
#include <ingot/describe.hpp>
#include <ingot/summary.hpp>
#include <ingot/types.hpp>
#include <ingot/weight_grid.hpp>
#include <ranges>

#include "cli/json_stream.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {

/// Whether a T in a list is written on one line.
template <class T>
inline constexpr bool is_json_row = false;
template <>
inline constexpr bool is_json_row<WeightGrid> = true;

/// The visitor that writes each member of a result into the object that is open.
class JsonMembers {
 public:
  explicit JsonMembers(JsonStream& json) : json_(json) {}

  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view, std::string_view) {
    json_.key(name);
    write(value);
  }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (ingot::detail::is_optional<T>) {
      value ? write(*value) : json_.null();
    } else if constexpr (std::same_as<T, TensorType>) {
      json_.value(type_text(value));
    } else if constexpr (std::same_as<T, LayerNumber>) {
      if (!value.is_per_layer) return json_.value(value.minimum);
      const auto array = json_.array(Layout::line);
      for (const Value layer : value.layers) json_.value(layer.get<std::uint64_t>().value_or(0));
    } else if constexpr (std::is_enum_v<T>) {
      json_.value(name_of(value));
    } else if constexpr (Described<T>) {
      const auto object = json_.object(is_json_row<T> ? Layout::line : Layout::lines);
      describe(*this, value);
    } else if constexpr (ingot::detail::is_map<T>) {
      using Element = typename std::ranges::range_value_t<T>::second_type;
      const auto object =
          json_.object(std::is_arithmetic_v<Element> ? Layout::line : Layout::lines);
      for (const auto& [name, element] : value) json_.member(name, element);
    } else if constexpr (!std::convertible_to<T, std::string_view> && std::ranges::range<T>) {
      const bool is_numbers = std::is_arithmetic_v<std::ranges::range_value_t<T>>;
      const auto array = json_.array(is_numbers ? Layout::line : Layout::lines);
      for (const auto& element : value) write(element);
    } else {
      json_.value(value);
    }
  }

  JsonStream& json_;
};

/// Writes a member that may be missing: null, or an object.
template <class T>
void write_optional(JsonStream& json, std::string_view name, const std::optional<T>& result) {
  JsonMembers members(json);
  members(name, result, {}, {});
}

/// Writes the members of a result into the object that is open.
template <class T>
void write_members(JsonStream& json, const T& result) {
  JsonMembers members(json);
  describe(members, result);
}

}  // namespace ingot::cli
