// SPDX-License-Identifier: MIT
// Weights of a tensor that is worked on in more than one part, the last one short.
#pragma once

#include <vector>

#include "ingot/model.hpp"

namespace ingot::test {

inline constexpr std::size_t columns = 4096;
inline constexpr std::size_t rows = 70;

[[nodiscard]] inline std::vector<float> weights() {
  std::vector<float> floats(columns * rows);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(i * 7919 % 10007) / 5000.0f - 1.0f;
  }
  return floats;
}

[[nodiscard]] inline std::vector<const TensorInfo*> all_of(const Model& model) {
  std::vector<const TensorInfo*> tensors;
  for (const TensorInfo& tensor : model.tensors()) tensors.push_back(&tensor);
  return tensors;
}

}  // namespace ingot::test
