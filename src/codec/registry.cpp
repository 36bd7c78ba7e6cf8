// SPDX-License-Identifier: MIT
// tensor_types.def, expanded into functions.
#include <algorithm>
#include <array>

#include "codec/codec.hpp"

namespace ingot::codec {
namespace {

constexpr std::array codecs = {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)              \
  Codec{TensorType::enumerator, dequantize_##enumerator##_ref, dequantize_##enumerator, \
        quantize_##enumerator##_ref, quantize_##enumerator},
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
};

}  // namespace

const Codec* find_codec(TensorType type) noexcept {
  const auto found = std::ranges::lower_bound(codecs, type, {}, &Codec::type);
  return found != codecs.end() && found->type == type ? &*found : nullptr;
}

}  // namespace ingot::codec
