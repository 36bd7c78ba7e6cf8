// SPDX-License-Identifier: MIT
// One row of the tensor table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// One tensor: a row of the tensor table. The name and the shape are views into the model.
struct TensorInfo {
  std::string_view name;                 ///< UTF-8 without NUL; any other character can be in it.
  std::span<const std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t element_count = 0;       ///< Product of the shape; 1 if it has no dimension.
  std::uint64_t data_offset = 0;         ///< The offset from the start of its shard's data section.
  std::uint64_t size_bytes = 0;
  TensorType type = TensorType::f32;  ///< May have no enumerator if opened leniently.
  std::uint32_t shard = 0;            ///< Position in Model::files().

  /// Elements of one row: dimension 0, or 1 if there is none.
  [[nodiscard]] std::uint64_t row_elements() const noexcept { return shape.empty() ? 1 : shape[0]; }
  /// Rows, counted through all other dimensions; 0 if they have no elements.
  [[nodiscard]] std::uint64_t row_count() const noexcept {
    return row_elements() == 0 ? 0 : element_count / row_elements();
  }
};

/// What a tensor is, without its place.
template <class Visitor>
void describe(Visitor& visit, const TensorInfo& tensor) {
  visit("name", tensor.name, "", "of the tensor");
  visit("shape", tensor.shape, "elements",
        "dimensions as stored: the fastest-varying first, which is the width of a row");
  visit("type", tensor.type, "", "the tensor type: `Q4_K`, `F16`, ...");
  visit("elements", tensor.element_count, "elements", "the product of `shape`");
  visit("bytes", tensor.size_bytes, "bytes", "of its data");
}

/// The size of a tensor.
struct TensorSize {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;  ///< 0 if the type is removed or unknown.
};

/// The size of a tensor of a type and a shape.
/// @return  Errc::size_overflow if a product does not fit 63 bits, where dimensions of 0 count as
/// 1,
///          so that a zero hides nothing; Errc::row_not_whole_blocks. The error has no subject.
[[nodiscard]] INGOT_EXPORT Result<TensorSize> size_of_tensor(TensorType type,
                                                             std::span<const std::uint64_t> shape);

/// The name of a tensor of a layer: "blk.7.attn_q.weight" is layer 7, rest "attn_q.weight".
struct LayerName {
  std::uint32_t layer = 0;
  std::string_view rest;  ///< A view into the name.
};

/// Parses the name of a layer's tensor. Nothing for names that do not begin with `blk.N.`, and for
/// an N of more than nine digits.
[[nodiscard]] INGOT_EXPORT std::optional<LayerName> parse_layer_name(
    std::string_view name) noexcept;

}  // namespace ingot
