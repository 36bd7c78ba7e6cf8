// SPDX-License-Identifier: MIT
// Weights for sample models: the same bits on every machine, and any part on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ingot/types.hpp>
#include <span>
#include <string_view>

namespace ingot::cli {

/// The weights of one tensor.
///
/// Roughly normal, in integers until the last step: no mathematical function is called, so nothing
/// depends on compiler, library or CPU. Weight i depends on seed, name and i alone.
struct WeightPattern {
  std::uint64_t key = 0;              ///< The result of `weight_key`.
  TensorType type = TensorType::f32;  ///< f32, f16 or bf16
  std::uint32_t scale_bits = 20;      ///< The standard deviation is 1.15 * 2^(15 - scale_bits).
  float center = 0.0f;                ///< What they lie around.
  Endian byte_order = Endian::little;
};

[[nodiscard]] std::uint64_t weight_key(std::uint64_t seed, std::string_view tensor_name) noexcept;

/// Weights are made in groups of four.
inline constexpr std::size_t weight_group = 4;

/// Writes the weights from number `first` on, a multiple of four, until `out` is full. `out` holds
/// whole groups.
void make_weights(const WeightPattern& pattern, std::uint64_t first, std::span<std::byte> out);

}  // namespace ingot::cli
