// SPDX-License-Identifier: MIT
// The types that an import encodes.
#pragma once

#include <algorithm>
#include <array>

#include "ingot/types.hpp"

namespace ingot::huggingface {

inline constexpr std::array import_types = {TensorType::f32,  TensorType::f16,   TensorType::bf16,
                                            TensorType::q8_0, TensorType::tq1_0, TensorType::tq2_0};

[[nodiscard]] constexpr bool is_import_type(TensorType type) noexcept {
  return std::ranges::find(import_types, type) != import_types.end();
}

}  // namespace ingot::huggingface
