// SPDX-License-Identifier: MIT
// How operations name the members of their JSON.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace ingot::huggingface {

/// A member of an operation's JSON.
template <class Operation, class Value>
struct OperationMember {
  std::string_view name;
  Value Operation::*place;
  bool is_needed;
};

template <class Operation, class Value>
[[nodiscard]] constexpr OperationMember<Operation, Value> needed(std::string_view name,
                                                                 Value Operation::*place) {
  return {name, place, true};
}

template <class Operation, class Value>
[[nodiscard]] constexpr OperationMember<Operation, Value> optional(std::string_view name,
                                                                   Value Operation::*place) {
  return {name, place, false};
}

/// The names of an operation's results: patterns that fill_pattern fills in.
template <std::size_t count>
using ResultNames = std::array<std::string, count>;

}  // namespace ingot::huggingface
