// SPDX-License-Identifier: MIT
// Limits of a reader.
#pragma once

#include <cstdint>

namespace ingot {

/// Limits of a reader. A file beyond one of them fails with Errc::limit_exceeded. Header bytes,
/// keys and tensors are limits of a model: the shards of a set share them. Memory for an open file
/// is below 9 times the bytes of its header; for sources that are not in memory, the bytes
/// themselves come on top, at most twice.
struct Limits {
  std::uint64_t max_header_bytes = std::uint64_t{256} << 20;  ///< Everything before the data.
  std::uint64_t max_keys = std::uint64_t{1} << 20;
  std::uint64_t max_tensors = std::uint64_t{1} << 20;
  std::uint64_t max_string_bytes = std::uint64_t{64} << 20;   ///< The limit of one string value.
  std::uint64_t max_array_elements = std::uint64_t{1} << 28;  ///< The limit of one array.
  std::uint32_t max_depth = 64;                               ///< Arrays within arrays; at most 64.
};

template <class Visitor>
void describe_options(Visitor& visit, Limits& limits) {
  visit("max_header_bytes", limits.max_header_bytes);
  visit("max_keys", limits.max_keys);
  visit("max_tensors", limits.max_tensors);
  visit("max_string_bytes", limits.max_string_bytes);
  visit("max_array_elements", limits.max_array_elements);
  visit("max_depth", limits.max_depth);
}

}  // namespace ingot
