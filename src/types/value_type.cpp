// SPDX-License-Identifier: MIT
#include <array>

#include "base/ranges.hpp"
#include "ingot/types.hpp"

namespace ingot {
namespace {

constexpr std::array<std::string_view, value_type_count> names = {
#define INGOT_VALUE_TYPE(id, enumerator, constant, label, bytes) label,
#include "ingot/value_types.def"
};

constexpr std::array<std::uint32_t, value_type_count> sizes_bytes = {
#define INGOT_VALUE_TYPE(id, enumerator, constant, label, bytes) bytes,
#include "ingot/value_types.def"
};

}  // namespace

std::string_view name_of(ValueType type) noexcept { return name_at(names, type); }

std::uint32_t size_bytes_of(ValueType type) noexcept {
  const auto id = static_cast<std::size_t>(type);
  return id < sizes_bytes.size() ? sizes_bytes[id] : 0;
}

std::optional<ValueType> find_value_type(std::string_view name) noexcept {
  for (std::size_t id = 0; id < names.size(); ++id) {
    if (names[id] == name) return static_cast<ValueType>(id);
  }
  return std::nullopt;
}

}  // namespace ingot
