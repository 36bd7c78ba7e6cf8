// SPDX-License-Identifier: MIT
// The choice between the block of the reference and that of a search.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "codec/best/best.hpp"
#include "codec/blocks/block.hpp"

namespace ingot::codec {
namespace {

/// The elements that are searched at once: enough blocks of every type for all lanes of a vector.
constexpr std::size_t chunk_elements = 4096;
/// No block with a search has more bytes for an element.
constexpr std::size_t chunk_bytes = chunk_elements / 32 * 34;

/// Slopes from which a block is corrected. Beyond, the codes are wrong, and not the scale.
constexpr double least_slope = 0.5;
constexpr double greatest_slope = 1.5;

/// The factor of the decoded values y with which a block costs least (block_cost with the
/// importances u); 1 if its slope, the sum of u * x * y over that of u * x * x, is out of range.
double best_factor(const float* x, const float* y, const float* u, std::size_t count,
                   double shortening) noexcept {
  double signal = 0.0;
  double product = 0.0;
  double energy = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = u == nullptr ? 1.0 : double{u[i]};
    signal += weight * double{x[i]} * double{x[i]};
    product += weight * double{x[i]} * double{y[i]};
    energy += weight * double{y[i]} * double{y[i]};
  }
  const double slope = product / signal;
  if (!(slope >= least_slope && slope <= greatest_slope)) return 1.0;
  return (1.0 + shortening) * product / (energy + shortening * product * slope);
}

struct Chunk {
  alignas(64) std::array<float, chunk_elements> x;
  alignas(64) std::array<float, chunk_elements> w;
  alignas(64) std::array<float, chunk_elements> reference;  ///< Decoded.
  alignas(64) std::array<float, chunk_elements> found;      ///< Decoded.
  std::array<std::byte, chunk_bytes> blocks;
  std::array<bool, chunk_elements / 32> is_searched;
};

/// Improves blocks that the reference encoder has written, some at a time.
class ChunkEncoder {
 public:
  ChunkEncoder(const BestEncoder& encoder, const FloatRows& rows) noexcept
      : encoder_(encoder),
        rows_(rows),
        codec_(*find_codec(encoder.type)),
        elements_(find_type(encoder.type)->block_elements),
        bytes_(find_type(encoder.type)->block_bytes) {}

  void run(std::size_t first, std::size_t count) noexcept {
    if (!weigh(first, count)) return;
    std::byte* const kept = rows_.dst + first * bytes_;
    encoder_.search({.x = chunk_.x.data(),
                     .w = chunk_.w.data(),
                     .reference = kept,
                     .dst = chunk_.blocks.data(),
                     .block_count = count});
    correct_scales(first, count, kept, chunk_.reference);
    correct_scales(first, count, chunk_.blocks.data(), chunk_.found);
    for (std::size_t b = 0; b < count; ++b) {
      if (chunk_.is_searched[b] && cost(chunk_.found, b) < cost(chunk_.reference, b)) {
        std::memcpy(kept + b * bytes_, &chunk_.blocks[b * bytes_], bytes_);
      }
    }
  }

 private:
  using Floats = std::array<float, chunk_elements>;

  [[nodiscard]] const float* importances_of(std::size_t block) const noexcept {
    const std::size_t row_blocks = rows_.row_elements / elements_;
    return rows_.importances == nullptr ? nullptr
                                        : rows_.importances + block % row_blocks * elements_;
  }

  /// Prepares values and weights of the search; false if no block is worth one.
  [[nodiscard]] bool weigh(std::size_t first, std::size_t count) noexcept {
    bool is_any = false;
    for (std::size_t b = 0; b < count; ++b) {
      const float* x = rows_.src + (first + b) * elements_;
      float* const values = &chunk_.x[b * elements_];
      float* const w = &chunk_.w[b * elements_];
      chunk_.is_searched[b] =
          weigh_for_search(encoder_.weights, x, importances_of(first + b), elements_, w);
      if (chunk_.is_searched[b]) {
        std::copy_n(x, elements_, values);
        is_any = true;
      } else {  // fills in numbers that are harmless in a search
        std::fill_n(values, elements_, 1.0f);
        std::fill_n(w, elements_, 1.0f);
      }
    }
    return is_any;
  }

  /// Gives blocks the scales with which they cost least, and decodes them.
  void correct_scales(std::size_t first, std::size_t count, std::byte* blocks,
                      Floats& decoded) noexcept {
    codec_.dequantize(blocks, decoded.data(), count, Stores::cached);
    if (encoder_.rescale == nullptr) return;
    for (std::size_t b = 0; b < count; ++b) {
      if (!chunk_.is_searched[b]) continue;
      const std::size_t element = b * elements_;
      encoder_.rescale(blocks + b * bytes_,
                       best_factor(&chunk_.x[element], &decoded[element], importances_of(first + b),
                                   elements_, encoder_.shortening));
    }
    codec_.dequantize(blocks, decoded.data(), count, Stores::cached);
  }

  [[nodiscard]] double cost(const Floats& decoded, std::size_t block) const noexcept {
    const std::size_t first = block * elements_;
    return block_cost(&chunk_.x[first], &decoded[first], &chunk_.w[first], elements_,
                      encoder_.shortening);
  }

  const BestEncoder& encoder_;
  const FloatRows& rows_;
  const Codec& codec_;
  std::size_t elements_;  // elements of a block
  std::size_t bytes_;     // bytes of a block
  Chunk chunk_;
};

}  // namespace

bool weigh_for_search(SearchWeights weights, const float* x, const float* importances,
                      std::size_t count, float* w) noexcept {
  float largest = 0.0f;
  float square = 0.0f;
  float largest_importance = importances == nullptr ? 1.0f : 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[i])) return false;
    largest = std::max(largest, std::fabs(x[i]));
    square += x[i] * x[i];
    if (importances == nullptr) continue;
    if (!(importances[i] >= 0.0f)) return false;
    largest_importance = std::max(largest_importance, importances[i]);
  }
  if (!(largest >= least_searched && largest <= greatest_searched)) return false;
  if (!(largest_importance > 0.0f)) return false;
  const float mean = square / static_cast<float>(count);
  float largest_weight = 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    w[i] = importances == nullptr ? 1.0f : importances[i] / largest_importance;
    if (weights == SearchWeights::balanced) w[i] *= std::sqrt(mean + x[i] * x[i]);
    largest_weight = std::max(largest_weight, w[i]);
  }
  for (std::size_t i = 0; i < count; ++i) w[i] /= largest_weight;
  return true;
}

double block_cost(const float* x, const float* decoded, const float* w, std::size_t count,
                  double shortening) noexcept {
  double error = 0.0;
  double along = 0.0;
  double signal = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = w[i];
    const double value = x[i];
    const double difference = value - double{decoded[i]};
    error += weight * difference * difference;
    along += weight * value * difference;
    signal += weight * value * value;
  }
  return signal > 0.0 ? error + shortening * (along * along / signal) : error;
}

void quantize_best(const BestEncoder& encoder, const FloatRows& rows) noexcept {
  const TensorTypeInfo& info = *find_type(encoder.type);
  find_codec(encoder.type)->quantize(rows);
  const std::size_t block_count = rows.row_count * rows.row_elements / info.block_elements;
  const std::size_t chunk_blocks = chunk_elements / info.block_elements;
  ChunkEncoder chunk(encoder, rows);
  for (std::size_t first = 0; first < block_count; first += chunk_blocks) {
    chunk.run(first, std::min(chunk_blocks, block_count - first));
  }
}

}  // namespace ingot::codec
