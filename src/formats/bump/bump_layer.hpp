// SPDX-License-Identifier: MIT
// The tensors of a layer of a model, and the sections of a bump file that they fill.
#pragma once

#include <vector>

#include "formats/bump/bump_layout.hpp"
#include "ingot/model.hpp"

namespace ingot::convert {

/// The tensors of a layer; a bias may be nullptr.
struct LayerTensors {
  const TensorInfo* ln1 = nullptr;
  const TensorInfo* ln2 = nullptr;
  const TensorInfo* q = nullptr;
  const TensorInfo* k = nullptr;
  const TensorInfo* v = nullptr;
  const TensorInfo* o = nullptr;
  const TensorInfo* gate = nullptr;
  const TensorInfo* up = nullptr;
  const TensorInfo* down = nullptr;
  const TensorInfo* q_bias = nullptr;
  const TensorInfo* k_bias = nullptr;
  const TensorInfo* v_bias = nullptr;
  TensorType gate_and_up_type = TensorType::f32;  // in the file
};

/// The tensors whose data a section of the layer holds, in order; nullptr: zeros.
[[nodiscard]] std::vector<const TensorInfo*> sources_in_layer(const LayerTensors& layer,
                                                              interop::BumpRole role);

}  // namespace ingot::convert
