// SPDX-License-Identifier: MIT
// Whether the weights of one group lie on a lattice, and on which.
#pragma once

#include <optional>
#include <span>

namespace ingot::codec {

/// Weights that are an origin plus multiples of a step, each within what its rounding explains.
struct GridFit {
  float origin = 0.0f;
  double least_step = 0.0;     ///< No smaller step explains all weights,
  double greatest_step = 0.0;  ///< and no greater one.
  int lowest = 0;              ///< The multiples are from here
  int highest = 0;             ///< to here.
  double chance = 1.0;         ///< How likely independent weights would look so.
};

/// The chance from which on a group is not said to be on a lattice.
inline constexpr double greatest_chance = 0x1p-40;

/// A group of finite weights, which were rounded to the type with the fewest digits that holds
/// them.
class GridGroup {
 public:
  explicit GridGroup(std::span<const float> weights) noexcept;

  [[nodiscard]] bool is_zero() const noexcept { return largest_ == 0.0f; }

  /// How far a weight may be from what it was before it was rounded.
  [[nodiscard]] double tolerance_of(float weight) const noexcept;

  /// A number, rounded as the weights were.
  [[nodiscard]] float rounded(float number) const noexcept;

  /// Fits multiples of a step: the greatest step whose chance is small enough, or if there is none
  /// the greatest of all.
  [[nodiscard]] std::optional<GridFit> fit_multiples(
      double wanted_chance = greatest_chance) const noexcept {
    return fit(0.0f, wanted_chance);
  }
  /// The same of differences from a weight: multiples with a minimum.
  [[nodiscard]] std::optional<GridFit> fit_differences(
      double wanted_chance = greatest_chance) const noexcept;

 private:
  [[nodiscard]] int most_steps() const noexcept;
  [[nodiscard]] std::optional<GridFit> fit(float origin, double wanted_chance) const noexcept;
  [[nodiscard]] std::optional<GridFit> fit_step(GridFit found,
                                                double origin_tolerance) const noexcept;

  std::span<const float> weights_;
  double rounding_;  // half of the last place, over the power of two of a number
  float largest_ = 0.0f;
};

}  // namespace ingot::codec
