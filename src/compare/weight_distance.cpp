// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "ingot/diff.hpp"
#include "ingot/parallel.hpp"
#include "work/streams/piece_decoder.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot {
namespace {

/// Elements that one thread decodes at a time.
constexpr std::uint64_t least_distance_part = std::uint64_t{1} << 17;
/// Parts of one tensor, at most: their sums are kept until they are added up.
constexpr std::uint64_t max_distance_parts = 4096;

struct DistanceSums {
  QuantizationError error;
  double squared_b = 0.0;
  std::uint64_t differing = 0;
};

void add(DistanceSums& sums, std::span<const float> a, std::span<const float> b) {
  sums.error.add(measure_error(a, b));
  sums.squared_b += measure_error(b, a).squared_signal;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Two NaNs count as equal, and so do both zeros.
    const bool is_same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    sums.differing += is_same ? 0 : 1;
  }
}

/// Decodes the same elements of two tensors and adds up how far they are apart.
Result<DistanceSums> compare_part(const Model& a, const Model& b, const TensorPair& pair,
                                  std::uint64_t first_element, std::uint64_t element_count) {
  work::PieceDecoder decoder_a(a, *pair.a, first_element + element_count);
  work::PieceDecoder decoder_b(b, *pair.b, first_element + element_count);
  DistanceSums sums;
  for (std::uint64_t done = 0; done < element_count;) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(statistics_piece, element_count - done));
    INGOT_TRY(const auto floats_a, decoder_a.decode(first_element + done, count));
    INGOT_TRY(const auto floats_b, decoder_b.decode(first_element + done, count));
    add(sums, floats_a, floats_b);
    done += count;
  }
  return sums;
}

class DistanceMeter {
 public:
  DistanceMeter(const Model& a, const Model& b, std::span<const TensorPair> pairs,
                unsigned thread_count, const DistanceProgress& progress)
      : a_(a),
        b_(b),
        pairs_(pairs),
        thread_count_(thread_count),
        progress_(progress),
        distances_(pairs.size()) {}

  Result<std::vector<WeightDistance>> run() {
    for (const TensorPair& pair : pairs_) {
      if (!std::ranges::equal(pair.a->shape, pair.b->shape)) {
        return fail(Errc::size_mismatch, std::string(pair.a->name), "the shapes differ");
      }
    }
    INGOT_TRY_VOID(compare_numbers());
    return std::move(distances_);
  }

 private:
  struct Part {
    std::size_t pair;
    std::uint64_t first;
    std::uint64_t count;
  };

  /// A tensor is cut the same way in whatever company it is, so that its digits are the same.
  Result<void> compare_numbers() {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      for (const TensorInfo* tensor : {pairs_[i].a, pairs_[i].b}) {
        if (find_type(tensor->type) != nullptr) continue;
        return fail(Errc::unsupported_type, std::string(tensor->name));
      }
      const std::uint64_t elements = pairs_[i].a->element_count;
      const std::uint64_t share = elements / max_distance_parts / statistics_piece + 1;
      const std::uint64_t part_elements = std::max(least_distance_part, share * statistics_piece);
      for (std::uint64_t first = 0; first < elements; first += part_elements) {
        parts.push_back({i, first, std::min(part_elements, elements - first)});
      }
    }
    std::vector<DistanceSums> sums(parts.size());
    INGOT_TRY_VOID(spread(
        parts.size(), 1, thread_count_, [&](std::uint64_t at, std::uint64_t) -> Result<void> {
          const Part& part = parts[to_size(at)];
          const TensorPair& pair = pairs_[part.pair];
          INGOT_TRY(sums[to_size(at)], compare_part(a_, b_, pair, part.first, part.count));
          const double share =
              static_cast<double>(part.count) / static_cast<double>(pair.a->element_count);
          const auto bytes = static_cast<double>(pair.a->size_bytes + pair.b->size_bytes);
          return progress_.add(static_cast<std::uint64_t>(share * bytes));
        }));
    for (std::size_t at = 0; at < parts.size(); ++at) {
      WeightDistance& distance = distances_[parts[at].pair];
      distance.error.add(sums[at].error);
      distance.squared_b += sums[at].squared_b;
      distance.differing += sums[at].differing;
    }
    return {};
  }

  const Model& a_;
  const Model& b_;
  std::span<const TensorPair> pairs_;
  unsigned thread_count_;
  SharedProgress progress_;
  std::vector<WeightDistance> distances_;
};

}  // namespace

double WeightDistance::cosine() const noexcept {
  const double squared_a = error.squared_signal;
  if (squared_a == 0.0 || squared_b == 0.0) return squared_a == squared_b ? 1.0 : 0.0;
  // |b - a|^2 = |a|^2 + |b|^2 - 2 a.b
  const double product = (squared_a + squared_b - error.squared_error) / 2.0;
  return std::clamp(product / std::sqrt(squared_a) / std::sqrt(squared_b), -1.0, 1.0);
}

Result<std::vector<WeightDistance>> measure_distances(const Model& a, const Model& b,
                                                      std::span<const TensorPair> pairs,
                                                      unsigned thread_count,
                                                      const DistanceProgress& progress) {
  return DistanceMeter(a, b, pairs, thread_count, progress).run();
}

}  // namespace ingot
