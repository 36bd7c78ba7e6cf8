// SPDX-License-Identifier: MIT
// How much the error of each tensor matters to the predictions of a model.
//
// `measure_sensitivities` (evaluate.hpp) measures it; `plan_quantization` (quantize_model.hpp)
// chooses types for a target size by it.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "ingot/describe.hpp"

namespace ingot {

/// One tensor, quantized alone for a measurement. Errors are sums of squares, relative to those of
/// the weights.
struct TensorSensitivity {
  std::string name;
  double divergence = 0.0;        ///< KL from the model as it is, nats per token.
  double divergence_error = 0.0;  ///< Standard error; NaN of a single chunk.
  double relative_error = 0.0;    ///< The error of the tensor in this measurement; above 0.
  /// The same, each square times the importance of its column; 0 where that is unknown.
  double weighted_error = 0.0;

  /// Divergence for a relative error of 1, which is weighted where `is_weighted` and known.
  [[nodiscard]] double alpha(bool is_weighted) const noexcept {
    return divergence / (is_weighted && weighted_error > 0.0 ? weighted_error : relative_error);
  }
};

template <class Visitor>
void describe(Visitor& visit, const TensorSensitivity& tensor) {
  const bool has_error = std::isfinite(tensor.divergence_error);
  visit("name", tensor.name, "", "the matrix that was quantized alone");
  visit("kl", tensor.divergence, "nats per token", "divergence from the model as it is");
  visit("kl_error", has_error ? std::optional(tensor.divergence_error) : std::nullopt,
        "nats per token", "its standard error; null for one chunk");
  visit("relative_error", tensor.relative_error, "",
        "sum of squared errors over that of the weights");
  visit("weighted_error", tensor.weighted_error, "", "the same with importances; 0 without");
  visit("alpha", tensor.alpha(true), "nats per token",
        "`kl` for a relative error of 1, weighted where that is known");
}

}  // namespace ingot
