// SPDX-License-Identifier: MIT
#include "ingot/tensor.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/checked.hpp"

namespace ingot {

Result<TensorSize> size_of_tensor(TensorType type, std::span<const std::uint64_t> shape) {
  constexpr std::uint64_t max_size = std::numeric_limits<std::int64_t>::max();
  std::uint64_t elements = 1;  // counts a dimension of 0 as 1
  bool is_empty = false;
  for (const std::uint64_t dimension : shape) {
    is_empty = is_empty || dimension == 0;
    if (!multiply_within(max_size, elements, std::max<std::uint64_t>(dimension, 1))) {
      return fail(Errc::size_overflow, {});
    }
  }
  std::uint64_t bytes = 0;
  if (const TensorTypeInfo* info = find_type(type)) {
    const std::uint64_t row_elements = shape.empty() ? 1 : shape[0];
    if (row_elements % info->block_elements != 0) {
      return fail(Errc::row_not_whole_blocks, {},
                  "a row has " + std::to_string(row_elements) + ", a block of " +
                      std::string(info->name) + " " + std::to_string(info->block_elements));
    }
    bytes = elements / info->block_elements;
    if (!multiply_within(max_size, bytes, info->block_bytes)) return fail(Errc::size_overflow, {});
  }
  return is_empty ? TensorSize{} : TensorSize{elements, bytes};
}

std::optional<LayerName> parse_layer_name(std::string_view name) noexcept {
  constexpr std::string_view prefix = "blk.";
  constexpr std::size_t max_digits = 9;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot > max_digits) return std::nullopt;
  LayerName result;
  const auto [end, error] = std::from_chars(name.data(), name.data() + dot, result.layer);
  if (error != std::errc() || end != name.data() + dot) return std::nullopt;
  result.rest = name.substr(dot + 1);
  return result;
}

}  // namespace ingot
