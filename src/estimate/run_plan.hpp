// SPDX-License-Identifier: MIT
// Options as the engine understands them: rounded, and checked against the model.
#pragma once

#include <cstdint>
#include <vector>

#include "estimate/profile_state.hpp"
#include "ingot/estimate.hpp"

namespace ingot::estimate {

struct RunPlan {
  std::uint64_t context = 0;
  std::uint64_t context_per_sequence = 0;
  std::uint64_t streams = 1;  ///< Caches that lie side by side.
  std::uint64_t micro_batch = 0;
  std::uint64_t sequences = 1;
  std::uint64_t graph_tokens = 0;    ///< The micro-batch, the same number for each sequence.
  std::uint64_t sliding_cells = 0;   ///< Cells of a layer that slides.
  std::uint64_t largest_values = 0;  ///< Value elements of a token in the widest layer.
  std::uint64_t value_bytes = 0;     ///< The bytes of an element in the cache; 0: quantized.
  bool uses_flash_attention = true;
  bool casts_keys = false;    ///< Flash attention reads halves of what the cache has as floats.
  bool casts_values = false;  ///< The same.
  /// Width of the matrix by which quantized keys are multiplied before they are stored; 0: none.
  std::uint64_t key_rotation = 0;
  std::uint64_t value_rotation = 0;
  std::uint64_t gpu_layers = 0;  ///< Positions from the end, the output included.
  /// Where each layer lies, and last the output: a device, or on_host.
  std::vector<std::size_t> places;
  static constexpr std::size_t on_host = ~std::size_t{0};
};

/// Cells as the engine rounds them up.
[[nodiscard]] std::uint64_t rounded_cells(std::uint64_t cells) noexcept;

/// Errc::run_refused and Errc::invalid_argument as from MemoryProfile::estimate.
[[nodiscard]] Result<RunPlan> plan_run(const detail::ProfileState& profile,
                                       const RunOptions& options);

}  // namespace ingot::estimate
