// SPDX-License-Identifier: MIT
// Exponentials of many numbers, by the vectors of the CPU. An exponential is wrong by at most one
// unit in the last place; the rounding differs between CPUs that fuse multiply and add and those
// that do not.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "evaluation/panels.hpp"

namespace ingot::evaluation {

/// The softmax of the tokens of a panel over keys that come block by block: what the weights so far
/// are relative to, and their sum.
struct alignas(64) PanelSoftmax {
  std::array<float, panel_tokens> largest;  ///< At first a finite number: no key need be seen.
  std::array<float, panel_tokens> sums;
};

/// Turns the scores of further keys into weights, e^(score - largest), with the largest score up to
/// here. What was made of earlier weights has to be multiplied by `factors`.
///
/// @param scores   a row of panel_tokens for each key; aligned to 64 bytes. -infinity becomes 0.
/// @param factors  one for each token; aligned to 64 bytes.
void weigh_scores(float* scores, std::size_t key_count, PanelSoftmax& softmax,
                  float* factors) noexcept;

/// rows[row][token] *= factors[token]; aligned to 64 bytes.
void scale_tokens(float* rows, std::size_t row_count, const float* factors) noexcept;

/// x = 1 / (1 + e^(-slope * x)), of any numbers.
void sigmoids(float slope, std::span<float> x) noexcept;

}  // namespace ingot::evaluation
