// SPDX-License-Identifier: MIT
// The differences between two models: keys, tensors, and how far their weights are from one another
// (target ingot::convert).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
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

/// A tensor that both models have with the same type and shape, and that stores other bytes.
struct DataDifference {
  std::string_view name;
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
  std::uint64_t first_difference = 0;  ///< The first byte that differs, from the tensor's start.
};

/// Views into both models. Lists are in the order of the first model; entries that only the second
/// one has come last.
struct ModelDifference {
  std::vector<KeyDifference> keys;
  std::vector<TensorDifference> tensors;
  std::vector<DataDifference> data;
  bool has_data = false;                ///< Whether stored bytes were compared,
  std::size_t compared_tensors = 0;     ///< and of how many tensors.
  bool has_other_key_order = false;     ///< The keys that both models have are in another order.
  bool has_other_tensor_order = false;  ///< The tensors that both models have are in another order.

  /// Whether all compared parts are equal; another order is no difference.
  [[nodiscard]] bool is_same() const noexcept {
    return keys.empty() && tensors.empty() && data.empty();
  }
};

/// Describes the verdict; what differs are views of the models.
template <class Visitor>
void describe(Visitor& visit, const ModelDifference& difference) {
  visit("same", difference.is_same(), "",
        "whether nothing of what was compared differs; the order does not count");
  visit("same_key_order", !difference.has_other_key_order, "",
        "whether the keys that both have come in the same order");
  visit("same_tensor_order", !difference.has_other_tensor_order, "", "the same of tensors");
}

/// Receives the bytes of tensor data done so far, of both models together; false ends the work with
/// Errc::interrupted. Called from one thread at a time.
using DistanceProgress = std::function<bool(std::uint64_t done_bytes)>;

struct DiffOptions {
  bool with_data = true;      ///< Compare stored bytes, too: one read of both models.
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
  DistanceProgress progress = {};
};

/// Compares keys, tensors, and the bytes that tensors of the same type and shape store. Values are
/// the same if type and content are, whatever version and byte order their files have; NaN is the
/// same as a NaN of the same bits. The keys that describe a set of shards (split.no and so on) do
/// not count: a set is one model. Linear in both headers; stored bytes are read once, by many
/// threads, and of a tensor that differs no further than to its first difference.
///
/// @return  errors of reading; Errc::unsupported_type for tensors of unknown type in two byte
///          orders.
[[nodiscard]] INGOT_EXPORT Result<ModelDifference> find_differences(
    const Model& a, const Model& b, const DiffOptions& options = {});

/// Two tensors of the same shape.
struct TensorPair {
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
};

/// All tensors that both models have with the same shape, in the order of the first one.
[[nodiscard]] INGOT_EXPORT std::vector<TensorPair> find_pairs(const Model& a, const Model& b);

/// The distance of the decoded weights of `b` from those of `a`.
struct WeightDistance {
  QuantizationError error;      ///< `a` is the reference; pairs that are not finite are left out.
  double squared_b = 0.0;       ///< Sum of b^2 over the pairs of `error`.
  std::uint64_t differing = 0;  ///< Pairs of different numbers, or with just one number.

  /// Whether all weights are the same; the bytes may be others, of another type or byte order.
  [[nodiscard]] bool is_same() const noexcept { return differing == 0; }

  /// The cosine of the angle between both: 1 for the same direction; 1 too if both are all zero, 0
  /// if one is.
  [[nodiscard]] INGOT_EXPORT double cosine() const noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const WeightDistance& distance) {
  visit("differing", distance.differing, "weights", "that are not equal");
  describe(visit, distance.error);
  visit("cosine", distance.cosine(), "", "of the angle between both: 1 for the same direction");
}

/// The distance of each pair, with many threads: all weights of both are decoded, so leave out
/// pairs that store the same bytes. The digits do not depend on the number of threads or the CPU.
/// Memory, mapped pages included, is a few MiB per thread.
///
/// @param thread_count  0: as many as the machine has cores.
/// @return  Errc::unsupported_type for tensors that cannot be decoded; Errc::size_mismatch for
/// pairs of different shapes; errors of reading.
[[nodiscard]] INGOT_EXPORT Result<std::vector<WeightDistance>> measure_distances(
    const Model& a, const Model& b, std::span<const TensorPair> pairs, unsigned thread_count = 0,
    const DistanceProgress& progress = {});

}  // namespace ingot
