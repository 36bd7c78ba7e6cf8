// SPDX-License-Identifier: MIT
// Runs: weights of a block that share a unit, so that their sums are sums of small integers.
//
// Every weight of a run is
//
//   unit * t - minimum * m
//
// where t and m are integers: t is the level of the weight (what its code stands for) times the
// scale of its group, and m the minimum of its group. What is summed up for statistics is
// this, before the difference is rounded to a float; without minimums nothing is ever rounded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingot/types.hpp"

namespace ingot::codec {

struct RunShape {
  TensorType type;
  std::size_t elements = 0;   ///< Weights of a run; a block has 1, 2 or 4 runs.
  int largest_level = 0;      ///< The largest magnitude of a level.
  std::size_t groups = 0;     ///< Groups with scales of their own: 8 or 16, or none.
  bool has_minimums = false;  ///< Whether m is not 0. Without groups it is 1.
};

/// Longer runs have their lanes added up run by run; these keep them, since adding up the lanes of
/// each would take longer than all else.
inline constexpr std::size_t most_short_run = 32;

/// The types whose sums are taken by runs; those of all others are sums of floats. A run of Q6_K
/// and IQ4_XS is part of a super-block, so that the sum of its squares has 31 bits: at most
/// 64 * (32 * 128)^2, and 128 * (32 * 127)^2.
inline constexpr RunShape run_shapes[] = {
    {TensorType::q4_0, 32, 8},
    {TensorType::q4_1, 32, 15, 0, true},
    {TensorType::q5_0, 32, 16},
    {TensorType::q5_1, 32, 31, 0, true},
    {TensorType::q2_k, 256, 3, 16, true},
    {TensorType::q3_k, 256, 4, 16},
    {TensorType::q4_k, 256, 15, 8, true},
    {TensorType::q5_k, 256, 31, 8, true},
    {TensorType::q6_k, 64, 32, 16},
    {TensorType::iq2_xxs, 256, 43, 8},
    {TensorType::iq2_xs, 256, 43, 16},
    {TensorType::iq2_s, 256, 43, 16},
    {TensorType::iq3_xxs, 256, 62, 8},
    {TensorType::iq3_s, 256, 15, 8},
    {TensorType::iq1_s, 256, 9, 16},  // 8 groups, every other of the kernel's 16 numbers
    {TensorType::iq1_m, 256, 9, 16},
    {TensorType::iq4_nl, 32, 127},
    {TensorType::iq4_xs, 128, 127, 8},
    {TensorType::tq1_0, 256, 1},
    {TensorType::tq2_0, 256, 2},
    {TensorType::q2_0, 64, 2},
    {TensorType::q1_0, 128, 1},
    {TensorType::mxfp4, 32, 12},
    {TensorType::nvfp4, 16, 12},
};

/// The shape of a type's runs; with no elements if its sums are sums of floats.
[[nodiscard]] constexpr RunShape run_shape_of(TensorType type) noexcept {
  for (const RunShape& shape : run_shapes) {
    if (shape.type == type) return shape;
  }
  return {type};
}

}  // namespace ingot::codec
