// SPDX-License-Identifier: MIT
// What `ingot diff` found, for people and as JSON.
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
  bool has_data = false;                  ///< Whether weights were compared.
  std::vector<TensorPair> pairs;          ///< The tensors whose weights were compared ...
  std::vector<WeightDistance> distances;  ///< ... and how far they are apart.

  /// Whether there is nothing to tell; another order of keys or tensors is no difference.
  [[nodiscard]] bool is_same() const;
};

void print_diff_text(Console& console, const Comparison& comparison);
void print_diff_json(Console& console, const Comparison& comparison);

}  // namespace ingot::cli
