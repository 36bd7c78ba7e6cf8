// SPDX-License-Identifier: MIT
#include "codec/blocks/k5.hpp"
#include "codec/codec.hpp"
#include "codec/encode/k45_search.hpp"

namespace ingot::codec {
namespace {

void encode(const std::array<float, 256>& x, const float* importances, BlockQ5_K& block) {
  const K45Codes found = search_k45(x, importances, q5_k_tries);
  block.scale = found.scale;
  block.minimum = found.minimum;
  block.groups = found.groups;
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 64) + e % 32;
    const unsigned code = found.codes[e];
    block.codes[byte] |= static_cast<std::uint8_t>((code & 15) << (4 * (e / 32 % 2)));
    block.high_bits[e % 32] |= static_cast<std::uint8_t>(code >> 4 << (e / 32));
  }
}

}  // namespace

void quantize_q5_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ5_K, 256>(rows, encode);
}

}  // namespace ingot::codec
