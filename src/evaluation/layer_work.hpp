// SPDX-License-Identifier: MIT
// What every part of a layer works with.
#pragma once

#include <cstdint>
#include <span>

#include "evaluation/matrix_work.hpp"
#include "evaluation/token_math.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {

struct LayerWork {
  const Settings& settings;
  MatrixWork& work;
  const Batch& batch;
  std::span<const std::uint8_t> tokens;  ///< See InputObserver.

  [[nodiscard]] Result<Panels> project(const Matrix& matrix, const Panels& inputs) const {
    return work.project(matrix, inputs, tokens);
  }
  [[nodiscard]] Result<void> normalise(const Norm& norm, const Panels& x, Panels& y) const {
    return normalise_all(norm, settings, x, y, work.team());
  }

  /// Calls use(panel) on all cores.
  template <class Use>
  [[nodiscard]] Result<void> for_each_panel(const Use& use) const {
    return work.team().spread(batch.panel_count(), 1,
                              [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
                                use(static_cast<std::size_t>(panel));
                                return {};
                              });
  }
};

}  // namespace ingot::evaluation
