// SPDX-License-Identifier: MIT
#include "codec/grid/super_block_grid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "codec/encode/packing.hpp"
#include "codec/grid/grid_fit.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"

namespace ingot::codec {
namespace {

constexpr std::size_t super_block_elements = 256;
constexpr std::size_t group_elements = 32;
constexpr std::size_t group_count = super_block_elements / group_elements;
/// The largest multiple of a scale or minimum: 6 bits.
constexpr int greatest_multiple = 63;
/// Units of scales that are tried with every unit of minimums.
constexpr std::size_t kept_units = 4;

using SuperBlock = std::span<const float, super_block_elements>;
/// Multiples of this number less their whole parts spread evenly in [0, 1), however many there are
/// (the golden ratio less 1).
constexpr double golden_part = 0.618;

using Decoded = std::array<float, super_block_elements>;
using Multiples = std::array<int, group_count>;

double f16_of(double number) noexcept {
  return f32_from_f16(f16_from_f32(static_cast<float>(number)));
}

/// The codes of a group, and the sums that tell the error of any scale and minimum:
/// weight = scale * code - minimum.
struct GroupLattice {
  double scale = 0.0;
  double codes = 0.0;        ///< The sum of the codes,
  double squares = 0.0;      ///< of their squares,
  double products = 0.0;     ///< of codes times weights,
  double weights = 0.0;      ///< of weights,
  double own_squares = 0.0;  ///< and of their squares.

  /// The minimum that goes best with a scale.
  [[nodiscard]] double best_minimum(double any_scale) const noexcept {
    return (any_scale * codes - weights) / group_elements;
  }
  [[nodiscard]] double error(double any_scale, double any_minimum) const noexcept {
    return any_scale * (any_scale * squares - 2 * (any_minimum * codes + products)) +
           any_minimum * (any_minimum * group_elements + 2 * weights) + own_squares;
  }
};

/// Two numbers and the multiples of them that groups have.
struct Units {
  double scale = 0.0;
  double minimum = 0.0;
  Multiples scales = {};
  Multiples minimums = {};
  double error = std::numeric_limits<double>::infinity();
  bool explains_all = false;  ///< Each weight is the source after rounding, but perhaps at ties.
};

template <class Block>
class SuperBlockLattice {
 public:
  explicit SuperBlockLattice(SuperBlock x) noexcept : x_(x) {}

  /// Whether each group is on a lattice of as many steps as there are codes.
  [[nodiscard]] bool fit() noexcept {
    int lowest = 0;
    int highest = 0;
    for (std::size_t g = 0; g < group_count; ++g) {
      const GridGroup group(x_.subspan(g * group_elements, group_elements));
      if (group.is_zero()) continue;
      constexpr double any_chance = std::numeric_limits<double>::infinity();
      fits_[g] = group.fit_multiples(any_chance);
      if (!fits_[g] || !has_codes(*fits_[g])) fits_[g] = group.fit_differences(any_chance);
      if (!fits_[g] || !has_codes(*fits_[g])) return false;
      if (fits_[g]->origin != 0.0f) has_common_zero_ = false;
      lowest = std::min(lowest, fits_[g]->lowest);
      highest = std::max(highest, fits_[g]->highest);
    }
    zero_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(-lowest)));
    has_common_zero_ = has_common_zero_ && zero_ + highest < count;
    double greatest_minimum = 0.0;
    for (const auto& fit : fits_) {
      if (fit) greatest_minimum = std::max(greatest_minimum, minimum_of(*fit));
    }
    for (std::size_t g = 0; g < group_count; ++g) {
      if (fits_[g]) set_group(g, *fits_[g], greatest_minimum);
    }
    return true;
  }

  /// Replaces the block at `dst`, which decodes to `reference`, if that is worse by errors that are
  /// weighted by `importances`, or alike if they are null.
  void encode(std::byte* dst, SuperBlock reference, const float* importances) const noexcept {
    const Units best = has_common_zero_ ? best_multiples() : best_lines();
    if (!std::isfinite(best.error) ||
        !(error_of(decode(best), importances) < error_of(reference, importances))) {
      return;
    }
    Block block{};
    put_f16(block.scale.data(), static_cast<float>(best.scale));
    put_f16(block.minimum.data(), static_cast<float>(best.minimum));
    for (std::size_t g = 0; g < group_count; ++g) {
      put_group(g, static_cast<unsigned>(best.scales[g]), static_cast<unsigned>(best.minimums[g]),
                block);
    }
    put_codes(codes_, block);
    std::memcpy(dst, &block, sizeof block);
  }

 private:
  static constexpr int count = sizeof(Block) == sizeof(BlockQ4_K) ? 16 : 32;

  [[nodiscard]] static bool has_codes(const GridFit& fit) noexcept {
    return fit.highest - fit.lowest < count;
  }
  [[nodiscard]] static double step_of(const GridFit& fit) noexcept {
    return 0.5 * (fit.least_step + fit.greatest_step);
  }
  /// That of a group whose lowest weight has code 0.
  [[nodiscard]] static double minimum_of(const GridFit& fit) noexcept {
    return -(double{fit.origin} + step_of(fit) * fit.lowest);
  }

  /// Codes that are left over shift the minimum by a scale: to that of other groups, which may be
  /// on the same lattice.
  void set_group(std::size_t g, const GridFit& fit, double greatest_minimum) noexcept {
    GroupLattice& group = groups_[g];
    group.scale = step_of(fit);
    const int spare = count - 1 - (fit.highest - fit.lowest);
    const double wanted = (greatest_minimum - minimum_of(fit)) / group.scale;
    const double shift = std::round(wanted);
    const bool is_shifted = shift <= spare && std::fabs(wanted - shift) < 0.1;
    const int lowest =
        has_common_zero_ ? -zero_ : fit.lowest - (is_shifted ? static_cast<int>(shift) : 0);
    for (std::size_t i = g * group_elements; i < (g + 1) * group_elements; ++i) {
      const auto nearest =
          static_cast<int>(std::lround((double{x_[i]} - double{fit.origin}) / group.scale));
      const int code = std::clamp(nearest, fit.lowest, fit.highest) - lowest;
      codes_[i] = static_cast<std::uint8_t>(code);
      group.codes += code;
      group.squares += code * code;
      group.products += code * double{x_[i]};
      group.weights += double{x_[i]};
      group.own_squares += double{x_[i]} * double{x_[i]};
    }
  }

  /// The scales nearest to those of the groups, if `top` times the unit is the largest of them.
  [[nodiscard]] Units scales_of(int top) const noexcept {
    Units units;
    const double largest = std::ranges::max_element(groups_, {}, &GroupLattice::scale)->scale;
    double squares = 0.0;
    double products = 0.0;
    double least = 0.0;
    double greatest = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < group_count; ++g) {
      const GroupLattice& group = groups_[g];
      const int multiple = multiple_of(largest / top, group.scale);
      units.scales[g] = multiple;
      if (group.scale == 0.0) continue;
      if (multiple == 0) {
        greatest = 0.0;  // No unit explains weights that become 0.
        continue;
      }
      const double middle = has_common_zero_ ? zero_ : group.codes / group_elements;
      squares += multiple * multiple *
                 (group.squares + middle * (middle * group_elements - 2 * group.codes));
      products += multiple * (group.products - middle * group.weights);
      least = std::max(least, fits_[g]->least_step / multiple);
      greatest = std::min(greatest, fits_[g]->greatest_step / multiple);
    }
    // The bounds are too wide where a weight is a power of two, so other tops try other places.
    const double place = std::fmod(0.5 + golden_part * (top - 1), 1.0);
    units.scale =
        f16_of(least <= greatest ? least + place * (greatest - least) : products / squares);
    units.explains_all = least <= units.scale && units.scale <= greatest;
    units.error = 0.0;
    return units;
  }

  /// One code stands for 0 in all groups, so minimums are this multiple of scales.
  [[nodiscard]] Units best_multiples() const noexcept {
    Units best;
    for (int top = 1; top <= greatest_multiple && !best.explains_all; ++top) {
      Units units = scales_of(top);
      units.minimum = zero_ * units.scale;
      units.minimums = units.scales;
      if (!(units.scale > 0.0) || f16_of(units.minimum) != units.minimum) continue;
      for (std::size_t g = 0; g < group_count; ++g) {
        const double scale = units.scale * units.scales[g];
        units.error += groups_[g].error(scale, zero_ * scale);
      }
      units.explains_all = units.explains_all && is_source_after_rounding(units);
      if (units.explains_all || units.error < best.error) best = units;
    }
    return best;
  }

  [[nodiscard]] Units best_lines() const noexcept {
    std::array<Units, kept_units> kept;
    for (int top = 1; top <= greatest_multiple; ++top) {
      Units units = scales_of(top);
      if (!(units.scale > 0.0)) continue;
      for (std::size_t g = 0; g < group_count; ++g) {
        const double scale = units.scale * units.scales[g];
        units.error += groups_[g].error(scale, groups_[g].best_minimum(scale));
      }
      const auto worst = std::ranges::max_element(kept, {}, &Units::error);
      if (units.error < worst->error) *worst = units;
    }
    Units best;
    for (const Units& units : kept) {
      if (std::isfinite(units.error)) choose_minimums(units, best);
    }
    return best;
  }

  void choose_minimums(Units units, Units& best) const noexcept {
    std::array<double, group_count> wanted = {};
    for (std::size_t g = 0; g < group_count; ++g) {
      wanted[g] = groups_[g].best_minimum(units.scale * units.scales[g]);
    }
    const double largest = std::max(0.0, *std::ranges::max_element(wanted));
    for (int top = 1; top <= greatest_multiple; ++top) {
      units.minimum = f16_of(largest / top);
      units.error = 0.0;
      for (std::size_t g = 0; g < group_count; ++g) {
        units.minimums[g] = multiple_of(units.minimum, wanted[g]);
        units.error +=
            groups_[g].error(units.scale * units.scales[g], units.minimum * units.minimums[g]);
      }
      if (units.error < best.error) best = units;
    }
  }

  [[nodiscard]] static int multiple_of(double unit, double number) noexcept {
    if (!(unit > 0.0)) return 0;
    return static_cast<int>(std::lround(std::clamp(number / unit, 0.0, 63.0)));
  }

  [[nodiscard]] double error_of(SuperBlock decoded, const float* importances) const noexcept {
    double sum = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double error = double{decoded[i]} - double{x_[i]};
      sum += error * error * (importances == nullptr ? 1.0 : double{importances[i]});
    }
    return sum;
  }

  /// What the type decodes to.
  [[nodiscard]] Decoded decode(const Units& units) const noexcept {
    Decoded decoded;
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const std::size_t g = i / group_elements;
      const float scale = static_cast<float>(units.scale) * static_cast<float>(units.scales[g]);
      const float minimum =
          static_cast<float>(units.minimum) * static_cast<float>(units.minimums[g]);
      decoded[i] = scale * static_cast<float>(codes_[i]) - minimum;
    }
    return decoded;
  }
  [[nodiscard]] bool is_source_after_rounding(const Units& units) const noexcept {
    const Decoded decoded = decode(units);
    for (std::size_t first = 0; first < x_.size(); first += group_elements) {
      const GridGroup group(x_.subspan(first, group_elements));
      for (std::size_t i = first; i < first + group_elements; ++i) {
        if (group.rounded(decoded[i]) != x_[i]) return false;
      }
    }
    return true;
  }

  SuperBlock x_;
  std::array<std::optional<GridFit>, group_count> fits_;  // nothing for zeros alone
  bool has_common_zero_ = true;
  int zero_ = 0;  // its code
  std::array<GroupLattice, group_count> groups_ = {};
  Codes<super_block_elements> codes_ = {};
};

template <class Block>
void encode_on_grid(TensorType type, const FloatRows& rows) noexcept {
  Decoded reference;
  const std::size_t block_count = rows.row_count * rows.row_elements / super_block_elements;
  for (std::size_t b = 0; b < block_count; ++b) {
    const SuperBlock x(rows.src + b * super_block_elements, super_block_elements);
    if (!std::ranges::all_of(x, [](float weight) { return std::isfinite(weight); })) continue;
    SuperBlockLattice<Block> lattice(x);
    if (!lattice.fit()) continue;
    std::byte* const dst = rows.dst + b * sizeof(Block);
    if (!dequantize(type, {dst, sizeof(Block)}, reference, {.stores = OutputStores::cached})) {
      continue;
    }
    const std::size_t column = b * super_block_elements % rows.row_elements;
    lattice.encode(dst, reference,
                   rows.importances == nullptr ? nullptr : rows.importances + column);
  }
}

}  // namespace

void encode_q4_k_on_grid(const FloatRows& rows) noexcept {
  encode_on_grid<BlockQ4_K>(TensorType::q4_k, rows);
}

void encode_q5_k_on_grid(const FloatRows& rows) noexcept {
  encode_on_grid<BlockQ5_K>(TensorType::q5_k, rows);
}

}  // namespace ingot::codec
