// SPDX-License-Identifier: MIT
#include "codec/grid/encode_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "codec/encode/code_range.hpp"
#include "codec/encode/packing.hpp"
#include "codec/grid/grid_fit.hpp"
#include "codec/grid/super_block_grid.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"

namespace ingot::codec {
namespace {

constexpr std::size_t block_elements = 32;
/// Scales that are tried, from the middle outwards: a lattice seldom leaves room for more.
constexpr int tried_scales = 48;

using Weights = std::span<const float, block_elements>;

/// A scale and a minimum with the integers that they go with.
struct Line {
  float scale = 0.0f;
  float minimum = 0.0f;
  int lowest = 0;         ///< The integer of code 0.
  std::size_t wrong = 0;  ///< Weights that are not the source after rounding.
  double error = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool is_better_than(const Line& other) const noexcept {
    return wrong != other.wrong ? wrong < other.wrong : error < other.error;
  }
};

template <class Block>
class BlockLattice {
 public:
  BlockLattice(Weights x, const GridGroup& group, const GridFit& fit) noexcept
      : x_(x), group_(group), fit_(fit) {
    const double middle = 0.5 * (fit.least_step + fit.greatest_step);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto nearest =
          static_cast<int>(std::lround((double{x[i]} - double{fit.origin}) / middle));
      integers_[i] = std::clamp(nearest, fit.lowest, fit.highest);
    }
  }

  /// Replaces the block at `dst`, which decodes to `reference`, if that is worse.
  bool encode(std::byte* dst, Weights reference) noexcept {
    if (!fits_codes()) return false;
    const auto middle = static_cast<float>(0.5 * (fit_.least_step + fit_.greatest_step)) *
                        static_cast<float>(sign_);
    const int near = f16_from_f32(middle);
    Line best;
    best.wrong = x_.size() + 1;
    for (int k = 0; k < tried_scales && best.wrong > 0; ++k) {
      const int bits = near + (k % 2 == 0 ? k / 2 : -(k + 1) / 2);
      try_scale(f32_from_f16(static_cast<std::uint16_t>(bits)), best);
    }
    if (!std::isfinite(best.error)) return false;
    // Weights far from 0 are so coarse that any step seems to explain them.
    if (best.wrong > 0 && !(best.error < error_of(reference))) return false;
    put(best, dst);
    return true;
  }

 private:
  static constexpr CodeRange<Block> range = {};

  /// Whether the type has codes for the integers; those of a symmetric type may be mirrored.
  [[nodiscard]] bool fits_codes() noexcept {
    if constexpr (has_minimum<Block>) {
      return fit_.highest - fit_.lowest < range.count;
    } else {
      constexpr int highest = range.lowest + range.count - 1;
      // Kernels of engines need not stand -128 in Q8_0.
      constexpr int lowest = range.count == 256 ? -highest : range.lowest;
      if (fit_.lowest >= lowest && fit_.highest <= highest) return true;
      if (-fit_.highest < lowest || -fit_.lowest > highest) return false;
      sign_ = -1;
      for (int& integer : integers_) integer = -integer;
      return true;
    }
  }

  void try_scale(float scale, Line& best) const noexcept {
    if (!std::isfinite(scale)) return;
    if constexpr (!has_minimum<Block>) {
      return measure({.scale = scale, .lowest = range.lowest}, best);
    } else {
      const double at_lowest = minimum_at_lowest(scale);
      // Codes that are left over shift the minimum by a scale; binary16 is near to one of these.
      for (int lowest = fit_.highest - range.count + 1; lowest <= fit_.lowest && best.wrong > 0;
           ++lowest) {
        const double wanted = at_lowest + double{scale} * (lowest - fit_.lowest);
        const float minimum = f32_from_f16(f16_from_f32(static_cast<float>(wanted)));
        measure({.scale = scale, .minimum = minimum, .lowest = lowest}, best);
      }
    }
  }

  /// What the lowest integer stands for: the middle of what explains all weights.
  [[nodiscard]] double minimum_at_lowest(float scale) const noexcept {
    if (fit_.origin == 0.0f) return double{scale} * fit_.lowest;
    double least = -std::numeric_limits<double>::infinity();
    double greatest = -least;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double rest = double{x_[i]} - double{scale} * (integers_[i] - fit_.lowest);
      least = std::max(least, rest - group_.tolerance_of(x_[i]));
      greatest = std::min(greatest, rest + group_.tolerance_of(x_[i]));
    }
    return 0.5 * (least + greatest);
  }

  /// Keeps the better line. Decodes as the type does.
  void measure(Line line, Line& best) const noexcept {
    line.error = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const int code = has_minimum<Block> ? integers_[i] - line.lowest : integers_[i];
      const float decoded = static_cast<float>(code) * line.scale + line.minimum;
      if (group_.rounded(decoded) != x_[i]) ++line.wrong;
      const double error = double{decoded} - double{x_[i]};
      line.error += error * error;
    }
    if (line.is_better_than(best)) best = line;
  }

  [[nodiscard]] double error_of(Weights decoded) const noexcept {
    double sum = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double error = double{decoded[i]} - double{x_[i]};
      sum += error * error;
    }
    return sum;
  }

  void put(const Line& line, std::byte* dst) const noexcept {
    Block block{};
    Codes<block_elements> codes;
    // Q8_0 stores its codes in two's complement, the others from 0 on.
    const int offset = range.count == 256 ? 0 : line.lowest;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      codes[i] = static_cast<std::uint8_t>(integers_[i] - offset);
    }
    put_f16(block.scale.data(), line.scale);
    if constexpr (has_minimum<Block>) put_f16(block.minimum.data(), line.minimum);
    put_codes(codes, block);
    std::memcpy(dst, &block, sizeof block);
  }

  Weights x_;
  const GridGroup& group_;
  const GridFit& fit_;
  int sign_ = 1;
  std::array<int, block_elements> integers_;
};

template <class Block>
void encode_blocks_on_grid(TensorType type, const FloatRows& rows) noexcept {
  std::array<float, block_elements> reference;
  const std::size_t block_count = rows.row_count * rows.row_elements / block_elements;
  for (std::size_t b = 0; b < block_count; ++b) {
    const Weights x(rows.src + b * block_elements, block_elements);
    if (!std::ranges::all_of(x, [](float weight) { return std::isfinite(weight); })) continue;
    const GridGroup group(x);
    if (group.is_zero()) continue;
    std::byte* const dst = rows.dst + b * sizeof(Block);
    const std::span bytes(dst, sizeof(Block));
    if (!dequantize(type, bytes, reference, {.stores = OutputStores::cached})) continue;
    // Any lattice will do that loses less than the reference does.
    constexpr double any_chance = std::numeric_limits<double>::infinity();
    const std::optional<GridFit> multiples = group.fit_multiples(any_chance);
    if (multiples && BlockLattice<Block>(x, group, *multiples).encode(dst, reference)) continue;
    if constexpr (has_minimum<Block>) {
      const std::optional<GridFit> differences = group.fit_differences(any_chance);
      if (differences) (void)BlockLattice<Block>(x, group, *differences).encode(dst, reference);
    }
  }
}

}  // namespace

void encode_grid(TensorType type, const FloatRows& rows) noexcept {
  using enum TensorType;
  if (type == q4_0) encode_blocks_on_grid<BlockQ4_0>(type, rows);
  if (type == q4_1) encode_blocks_on_grid<BlockQ4_1>(type, rows);
  if (type == q5_0) encode_blocks_on_grid<BlockQ5_0>(type, rows);
  if (type == q5_1) encode_blocks_on_grid<BlockQ5_1>(type, rows);
  if (type == q8_0) encode_blocks_on_grid<BlockQ8_0>(type, rows);
  if (type == q4_k) encode_q4_k_on_grid(rows);
  if (type == q5_k) encode_q5_k_on_grid(rows);
}

}  // namespace ingot::codec
