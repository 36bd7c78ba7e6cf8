// SPDX-License-Identifier: MIT
// The element types of safetensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot::formats {

/// One element type. Source: the `Dtype` of the safetensors library, version 0.7.
struct SafetensorsDtype {
  std::string_view name;
  std::uint32_t bits = 0;
  /// The type of GGUF that holds its values exactly; nothing if there is none.
  std::optional<TensorType> type;
  /// The value of each byte, as bfloat16, for the types of one byte that GGUF does not have.
  const std::uint16_t* byte_values = nullptr;
};

/// nullptr if there is no such type.
[[nodiscard]] INGOT_EXPORT const SafetensorsDtype* find_dtype(std::string_view name) noexcept;

/// The element type that holds a tensor of GGUF as it is; nullptr for quantized types.
[[nodiscard]] const SafetensorsDtype* find_dtype(TensorType type) noexcept;

}  // namespace ingot::formats
