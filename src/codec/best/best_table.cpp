// SPDX-License-Identifier: MIT
// best_encoders.def, expanded into functions.
#include <algorithm>
#include <array>
#include <cmath>

#include "codec/best/best.hpp"
#include "codec/blocks/iq.hpp"
#include "codec/blocks/k.hpp"
#include "codec/blocks/legacy.hpp"
#include "codec/blocks/q8.hpp"
#include "codec/blocks/ternary.hpp"

namespace ingot::codec {
namespace {

/// Rescales a binary16, unless it would become infinite.
void rescale_half(std::uint8_t* bytes, double factor) noexcept {
  const auto scale = static_cast<float>(double{f16_at(bytes)} * factor);
  const std::uint16_t bits = f16_from_f32(scale);
  if (std::isfinite(f32_from_f16(bits))) put_u16(bytes, bits);
}

template <class Block>
void rescale_scale(std::byte* bytes, double factor) noexcept {
  auto block = load_block<Block>(bytes, 0);
  rescale_half(block.scale.data(), factor);
  store_block(block, bytes, 0);
}

template <class Block>
void rescale_both(std::byte* bytes, double factor) noexcept {
  auto block = load_block<Block>(bytes, 0);
  rescale_half(block.scale.data(), factor);
  rescale_half(block.minimum.data(), factor);
  store_block(block, bytes, 0);
}

void rescale_iq1_m(std::byte* bytes, double factor) noexcept {
  auto block = load_block<BlockIQ1_M>(bytes, 0);
  Bytes<2> scale;
  put_u16(scale.data(), scale_bits_of(block));
  rescale_half(scale.data(), factor);
  put_scale_bits(block, u16_at(scale.data()));
  store_block(block, bytes, 0);
}

constexpr std::array encoders = {
#define INGOT_BEST_ENCODER(enumerator, weights, rescale) \
  BestEncoder{TensorType::enumerator,                    \
              SearchWeights::weights,                    \
              search_##enumerator,                       \
              search_##enumerator##_ref,                 \
              rescale,                                   \
              usual_shortening},
#include "codec/best/best_encoders.def"
#undef INGOT_BEST_ENCODER
};

}  // namespace

const BestEncoder* find_best_encoder(TensorType type) noexcept {
  const auto found = std::ranges::find(encoders, type, &BestEncoder::type);
  return found != encoders.end() ? &*found : nullptr;
}

}  // namespace ingot::codec
