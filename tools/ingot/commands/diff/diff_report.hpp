// SPDX-License-Identifier: MIT
// The output of `ingot diff`, for people and as JSON.
#pragma once

#include <ingot/diff.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct Comparison {
  const std::string& file_a;
  const std::string& file_b;
  const Model& a;
  const Model& b;
  ModelDifference difference;
  bool has_distances = false;             ///< Whether weights were measured.
  std::vector<TensorPair> pairs;          ///< The tensors whose weights were measured ...
  std::vector<WeightDistance> distances;  ///< ... and how far they are apart.
  std::vector<bool> has_same_bytes;       ///< Tells for each pair whether types and bytes are
                                          ///< equal, so that it need not be decoded.
};

void print_diff_text(Console& console, const Comparison& comparison);
void print_diff_json(Console& console, const Comparison& comparison);

}  // namespace ingot::cli
