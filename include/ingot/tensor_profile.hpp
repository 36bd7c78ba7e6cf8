// SPDX-License-Identifier: MIT
// Statistics, histograms and quantization errors of tensors in one pass, by many threads (target
// ingot::convert).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/statistics.hpp"
#include "ingot/tensor.hpp"
#include "ingot/weight_grid.hpp"

namespace ingot {

/// The count of numbers in each of some bins of equal width. Numbers that are NaN or infinite
/// are in none.
struct Histogram {
  double low = 0.0;   ///< The lower edge of the first bin: the smallest number.
  double high = 0.0;  ///< The upper edge of the last bin: the largest number, which is in it.
  /// Their sum is the count of the finite numbers. One bin if these are all equal, none without
  /// any.
  std::vector<std::uint64_t> counts;
};

/// The distance of numbers from a reference. Pairs with a NaN or an infinity are left out.
struct QuantizationError {
  std::uint64_t count = 0;      ///< Pairs that were compared.
  double squared_error = 0.0;   ///< Sum of (number - reference)^2.
  double squared_signal = 0.0;  ///< Sum of reference^2.
  double largest = 0.0;         ///< The largest |number - reference|.

  /// The root of the mean squared error; 0 without pairs.
  [[nodiscard]] INGOT_EXPORT double rmse() const noexcept;

  /// The ratio of signal to quantization noise in decibels, 10 log10(squared_signal /
  /// squared_error); infinity if all numbers are equal.
  [[nodiscard]] INGOT_EXPORT double sqnr_db() const noexcept;

  /// Adds the errors of other numbers. The order matters to the last digits.
  INGOT_EXPORT void add(const QuantizationError& other) noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const QuantizationError& error) {
  visit("count", error.count, "weights", "that were compared: those that are finite in both");
  visit("rmse", error.rmse(), "", "root of the mean square of the differences");
  visit("sqnr_db", error.sqnr_db(), "dB",
        "ratio of signal to error, 10 log10 of their sums; Infinity if nothing differs");
  visit("max", error.largest, "", "the largest difference, without its sign");
  visit("squared_error", error.squared_error, "", "sum of the squares of the differences");
  visit("squared_signal", error.squared_signal, "", "sum of the squares of the source");
}

/// Compares as many numbers as the shorter of both has. The same digits on every CPU. Linear;
/// thread-safe; does not allocate.
[[nodiscard]] INGOT_EXPORT QuantizationError measure_error(std::span<const float> reference,
                                                           std::span<const float> numbers) noexcept;

/// The profile of one tensor.
struct TensorProfile {
  Statistics statistics;
  Histogram histogram;
  std::optional<QuantizationError> error;  ///< The error, if the reference has such a tensor.
};

struct ProfileOptions {
  /// Bins of a histogram; 0: no histograms. Up to statistics_piece numbers are counted exactly.
  /// More are counted by the upper 16 bits of their binary32 first, which are then spread over the
  /// bins that they overlap: about 1 % of a number's magnitude decides on which side of an edge it
  /// is.
  std::size_t bin_count = 64;
  /// Compare with the tensors of this model that have the same name and shape.
  const Model* reference = nullptr;
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
};

/// Receives the bytes of tensor data done so far, those of the reference included; false ends the
/// work with Errc::interrupted. Called from one thread at a time.
using ProfileProgress = std::function<bool(std::uint64_t done_bytes)>;

/// The tensor of `reference` that `profile_tensors` compares with; nullptr if there is none.
[[nodiscard]] INGOT_EXPORT const TensorInfo* find_counterpart(const Model& reference,
                                                              const TensorInfo& tensor);

/// Decodes each tensor once and profiles it: the same digits for any number of threads, on any CPU.
/// Tensors larger than memory stream, through some MiB per thread.
///
/// @param tensors  of this model.
/// @return  Errc::unsupported_type for tensors that cannot be decoded, and errors of reading.
[[nodiscard]] INGOT_EXPORT Result<std::vector<TensorProfile>> profile_tensors(
    const Model& model, std::span<const TensorInfo* const> tensors,
    const ProfileOptions& options = {}, const ProfileProgress& progress = {});

/// Whether the weights of a tensor lie on a lattice, by a sample: reads 16 parts of 256 weights at
/// most, and one or two of weights that are on none. weight_grid.hpp says more.
///
/// @return  nothing for types that cannot be decoded, too; errors of reading.
[[nodiscard]] INGOT_EXPORT Result<std::optional<WeightGrid>> find_grid(const Model& model,
                                                                       const TensorInfo& tensor);

}  // namespace ingot
