// SPDX-License-Identifier: MIT
// A tensor with an error of a known size.
#pragma once

#include <optional>

#include "evaluation/matrix_work.hpp"
#include "ingot/imatrix.hpp"

namespace ingot::evaluation {

struct Probe {
  Substitute substitute;
  double relative_error = 0.0;  ///< Sum of squared errors over that of squares.
  double weighted_error = 0.0;  ///< The error weighted by importances; 0 without them.
};

/// Q2_K, or Q4_0 where rows are not whole blocks of that; nothing if they fit neither.
[[nodiscard]] std::optional<TensorType> probe_type(const TensorInfo& tensor) noexcept;

/// Quantizes a tensor that has a probe_type, on many threads.
/// @param importance  may be null, and may lack the tensor. Errc::imatrix_mismatch if it has
/// another
///                    size there.
[[nodiscard]] Result<Probe> make_probe(const Model& model, const TensorInfo& tensor,
                                       const ImportanceMatrix* importance, unsigned thread_count);

}  // namespace ingot::evaluation
