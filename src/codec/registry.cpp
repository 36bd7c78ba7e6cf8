// SPDX-License-Identifier: MIT
// tensor_types.def, expanded into functions.
#include <algorithm>
#include <array>

#include "codec/codec.hpp"

namespace ingot::codec {
namespace {

// Nothing that runs on the web quantizes, and the encoders are most of the codec.
#ifdef INGOT_DECODES_ONLY
#define INGOT_ENCODERS(enumerator) nullptr, nullptr
#else
#define INGOT_ENCODERS(enumerator) quantize_##enumerator##_ref, quantize_##enumerator
#endif

constexpr std::array codecs = {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)              \
  Codec{TensorType::enumerator, dequantize_##enumerator##_ref, dequantize_##enumerator, \
        INGOT_ENCODERS(enumerator)},
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
};

}  // namespace

const Codec* find_codec(TensorType type) noexcept {
  const auto found = std::ranges::lower_bound(codecs, type, {}, &Codec::type);
  return found != codecs.end() && found->type == type ? &*found : nullptr;
}

}  // namespace ingot::codec
