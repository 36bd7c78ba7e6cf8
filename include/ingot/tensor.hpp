// SPDX-License-Identifier: MIT
// One row of the tensor table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ingot/types.hpp"

namespace ingot {

/// One tensor: a row of the tensor table. The name and the shape are views into the model.
struct TensorInfo {
  std::string_view name;                 ///< UTF-8 without NUL; any other character can be in it.
  std::span<const std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t element_count = 0;       ///< Product of the shape; 1 if it has no dimension.
  std::uint64_t data_offset = 0;         ///< From the start of its shard's data section.
  std::uint64_t size_bytes = 0;
  TensorType type = TensorType::f32;  ///< May have no enumerator if opened leniently.
  std::uint32_t shard = 0;            ///< Position in Model::files().

  /// Elements of one row: dimension 0, or 1 if there is none.
  [[nodiscard]] std::uint64_t row_elements() const noexcept { return shape.empty() ? 1 : shape[0]; }
};

}  // namespace ingot
