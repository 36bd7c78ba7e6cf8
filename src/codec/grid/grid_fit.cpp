// SPDX-License-Identifier: MIT
#include "codec/grid/grid_fit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ingot/half.hpp"

namespace ingot::codec {
namespace {

/// Half of the last place, over the power of two of a number, in BF16, F16 and F32.
constexpr double bf16_rounding = 0x1p-8;
constexpr double f16_rounding = 0x1p-11;
constexpr double f32_rounding = 0x1p-24;
/// Half of the smallest number in F16.
constexpr double least_f16_rounding = 0x1p-25;

/// The chance that a weight is near to a multiple of a step. The numbers of its type are two
/// tolerances apart, so one more of them may be as near as the width says.
double chance_of(double tolerance, double step) noexcept {
  return std::min(1.0, 4 * tolerance / step);
}

/// A weight for a quick look, in parts of the distance that is divided into steps.
struct Probe {
  double distance = 0.0;
  double tolerance = 1.0;  ///< Of it, and of the step.

  [[nodiscard]] bool is_off(int steps) const noexcept {
    const double place = distance * steps;
    return std::fabs(place - static_cast<int>(place + 0.5)) > tolerance * steps;
  }
};

/// The rounding of the type with the fewest digits that holds the weights.
double rounding_of(std::span<const float> weights) noexcept {
  std::uint32_t bits = 0;
  for (const float weight : weights) bits |= std::bit_cast<std::uint32_t>(weight);
  return (bits & 0xFFFF) == 0 ? bf16_rounding : (bits & 0x1FFF) == 0 ? f16_rounding : f32_rounding;
}

}  // namespace

GridGroup::GridGroup(std::span<const float> weights) noexcept
    : weights_(weights), rounding_(rounding_of(weights)) {
  for (const float weight : weights) largest_ = std::max(largest_, std::fabs(weight));
}

double GridGroup::tolerance_of(float weight) const noexcept {
  constexpr std::uint32_t exponent_bits = 0x7F800000;
  const auto power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) & exponent_bits);
  double tolerance = double{power} * rounding_;
  if (rounding_ == f16_rounding) tolerance = std::max(tolerance, least_f16_rounding);
  // Scale times integer, and the sum with a minimum, were rounded in binary32.
  return tolerance + double{largest_} * 4 * f32_rounding;
}

float GridGroup::rounded(float number) const noexcept {
  if (rounding_ == bf16_rounding) return f32_from_bf16(bf16_from_f32(number));
  return rounding_ == f16_rounding ? f32_from_f16(f16_from_f32(number)) : number;
}

/// Any weight will do as the origin; that of the smallest magnitude was rounded least.
std::optional<GridFit> GridGroup::fit_differences(double wanted_chance) const noexcept {
  return fit(*std::ranges::min_element(weights_, {}, [](float x) { return std::fabs(x); }),
             wanted_chance);
}

/// BF16 has too few digits to tell that larger integers are any.
int GridGroup::most_steps() const noexcept { return rounding_ == bf16_rounding ? 31 : 255; }

/// Tries 1, 2, 3, ... steps between the origin and the weight that is farthest from it. Two of the
/// other weights show at once that most numbers of steps are wrong.
std::optional<GridFit> GridGroup::fit(float origin, double wanted_chance) const noexcept {
  const auto distance_of = [&](float x) { return std::fabs(double{x} - double{origin}); };
  const float farthest = *std::ranges::max_element(weights_, {}, distance_of);
  const double distance = distance_of(farthest);
  if (distance == 0.0) return std::nullopt;
  const double origin_tolerance = origin == 0.0f ? 0.0 : tolerance_of(origin);
  const double tolerance = tolerance_of(farthest) + origin_tolerance;
  std::array<Probe, 2> probes;
  std::size_t probe = 0;
  for (const float weight : weights_) {
    const double part = distance_of(weight) / distance;
    // Where the farthest weight says little of the step, no probe does.
    if (part == 0.0 || part == 1.0 || probe == probes.size() || tolerance > 0.01 * distance)
      continue;
    const double own_tolerance = tolerance_of(weight) + origin_tolerance;
    probes[probe++] = {part, 1.02 * (own_tolerance + part * tolerance) / distance};
  }
  std::optional<GridFit> unclear;
  for (int steps = 1; steps <= most_steps(); ++steps) {
    if (probes[0].is_off(steps) || probes[1].is_off(steps)) continue;
    std::optional<GridFit> found = fit_step({.origin = origin,
                                             .least_step = (distance - tolerance) / steps,
                                             .greatest_step = (distance + tolerance) / steps},
                                            origin_tolerance);
    if (!found) continue;
    // Of all tries one may fit; the farthest weight always does.
    found->chance *= 2 * most_steps() / chance_of(tolerance, distance / steps);
    if (found->chance <= wanted_chance) return found;
    if (!unclear) unclear = found;
  }
  return unclear;
}

/// Narrows the bounds of the step down, weight by weight.
std::optional<GridFit> GridGroup::fit_step(GridFit found, double origin_tolerance) const noexcept {
  const double inverse = 2.0 / (found.least_step + found.greatest_step);
  for (const float weight : weights_) {
    const double distance = double{weight} - double{found.origin};
    if (distance == 0.0) continue;  // zeros, and repetitions of the origin, prove nothing
    const double tolerance = tolerance_of(weight) + origin_tolerance;
    const auto code = static_cast<int>(std::floor(distance * inverse + 0.5));
    const double magnitude = std::abs(code);
    const double length = std::fabs(distance);
    if (found.least_step * magnitude > length + tolerance ||
        found.greatest_step * magnitude < length - tolerance) {
      return std::nullopt;
    }
    if (code != 0) {
      found.least_step = std::max(found.least_step, (length - tolerance) / magnitude);
      found.greatest_step = std::min(found.greatest_step, (length + tolerance) / magnitude);
    }
    found.chance *= chance_of(tolerance, 1.0 / inverse);
    found.lowest = std::min(found.lowest, code);
    found.highest = std::max(found.highest, code);
  }
  return found;
}

}  // namespace ingot::codec
