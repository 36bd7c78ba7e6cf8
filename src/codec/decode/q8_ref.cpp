// SPDX-License-Identifier: MIT
#include "codec/blocks/q8.hpp"
#include "codec/decode/decoding_ref.hpp"

namespace ingot::codec {
namespace {

template <std::size_t count>
void decode_bytes(const Bytes<count>& codes, float scale, float* dst) noexcept {
  for (const std::uint8_t code : codes) {
    *dst++ = static_cast<float>(static_cast<std::int8_t>(code)) * scale;
  }
}

void decode(const BlockQ8_0& block, float* dst) noexcept {
  decode_bytes(block.codes, f16_at(block.scale.data()), dst);
}

void decode(const BlockQ8_1& block, float* dst) noexcept {
  decode_bytes(block.codes, f16_at(block.scale.data()), dst);
}

void decode(const BlockQ8_K& block, float* dst) noexcept {
  decode_bytes(block.codes, std::bit_cast<float>(u32_at(block.scale.data())), dst);
}

}  // namespace

INGOT_REFERENCE_DECODER(Q8_0, q8_0)
INGOT_REFERENCE_DECODER(Q8_1, q8_1)
INGOT_REFERENCE_DECODER(Q8_K, q8_k)

}  // namespace ingot::codec
