// SPDX-License-Identifier: MIT
#include "formats/bump/bump_layer.hpp"

namespace ingot::convert {

std::vector<const TensorInfo*> sources_in_layer(const LayerTensors& layer, interop::BumpRole role) {
  using interop::BumpRole;
  switch (role) {
    case BumpRole::ln1_gamma:
      return {layer.ln1};
    case BumpRole::ln2_gamma:
      return {layer.ln2};
    case BumpRole::wq:
      return {layer.q};
    case BumpRole::bq:
      return {layer.q_bias};
    case BumpRole::wk:
      return {layer.k};
    case BumpRole::bk:
      return {layer.k_bias};
    case BumpRole::wv:
      return {layer.v};
    case BumpRole::bv:
      return {layer.v_bias};
    case BumpRole::wo:
      return {layer.o};
    case BumpRole::w1:
      return {layer.gate, layer.up};
    case BumpRole::w2:
      return {layer.down};
    default:
      return {nullptr};
  }
}

}  // namespace ingot::convert
