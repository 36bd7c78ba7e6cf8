// SPDX-License-Identifier: MIT
// What differs between two models: keys, tensors, and how far their weights are from one another
// (target ingot::convert).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/tensor.hpp"
#include "ingot/tensor_profile.hpp"

namespace ingot {

/// A key that only one model has, or with another type or value. nullptr where it is absent.
struct KeyDifference {
  std::string_view key;
  const Value* a = nullptr;
  const Value* b = nullptr;
};

/// A tensor that only one model has, or with another type or shape. nullptr where it is absent.
struct TensorDifference {
  std::string_view name;
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
};

/// Views into both models. In the order of the first model; then what only the second one has.
struct ModelDifference {
  std::vector<KeyDifference> keys;
  std::vector<TensorDifference> tensors;
  bool has_other_key_order = false;     ///< Of the keys that both have.
  bool has_other_tensor_order = false;  ///< Of the tensors that both have.
};

/// Compares keys and tensors, without data. Values are the same if type and content are, whatever
/// version and byte order their files have; NaN is the same as a NaN of the same bits. The keys
/// that describe a set of shards (split.no and so on) do not count: a set is one model. Linear in
/// both headers.
[[nodiscard]] INGOT_EXPORT ModelDifference find_differences(const Model& a, const Model& b);

/// Two tensors of the same shape.
struct TensorPair {
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
};

/// All tensors that both models have with the same shape, in the order of the first one.
[[nodiscard]] INGOT_EXPORT std::vector<TensorPair> find_pairs(const Model& a, const Model& b);

/// How far the decoded weights of `b` are from those of `a`.
struct WeightDistance {
  bool has_same_bytes = false;  ///< Of the same type and byte for byte; then the rest is 0.
  QuantizationError error;      ///< `a` is the reference; pairs that are not finite are left out.
  double squared_b = 0.0;       ///< Sum of b^2 over the pairs of `error`.
  std::uint64_t differing = 0;  ///< Pairs of different numbers, or of which just one is a number.

  /// Whether all weights are the same; the bytes may be others, of another type or byte order.
  [[nodiscard]] bool is_same() const noexcept { return differing == 0; }

  /// The cosine of the angle between both: 1 for the same direction; 1 too if both are all zero, 0
  /// if one is.
  [[nodiscard]] INGOT_EXPORT double cosine() const noexcept;
};

/// Told how many bytes of tensor data are done, of both models together; false ends the work with
/// Errc::interrupted. Called from one thread at a time.
using DistanceProgress = std::function<bool(std::uint64_t done_bytes)>;

/// The distance of each pair, with many threads. Tensors of the same type are compared byte for
/// byte first, and decoded only if they differ. The same digits for any number of threads, on any
/// CPU. Streams: what is held, mapped pages included, is a few MiB per thread.
///
/// @param thread_count  0: as many as the machine has cores.
/// @return  Errc::unsupported_type for tensors that differ and cannot be decoded;
///          Errc::size_mismatch for pairs of different shapes; what reading may return.
[[nodiscard]] INGOT_EXPORT Result<std::vector<WeightDistance>> measure_distances(
    const Model& a, const Model& b, std::span<const TensorPair> pairs, unsigned thread_count = 0,
    const DistanceProgress& progress = {});

}  // namespace ingot
