// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/iq1_encode.hpp"
#include "codec/encode/iq23_encode.hpp"
#include "codec/encode/iq4_search.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {
namespace {

/// The weight of an error in each value, see iq_encoders.def; `importances` may be null.
BlockValues value_weights(const BlockValues& x, const float* importances, float factor,
                          float share) noexcept {
  const float mean = factor * sum_of_squares(x.data(), x.size()) / 256.0f;
  const float added = share == 0.0f ? 0.0f : share * mean;
  BlockValues w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = importances != nullptr ? importances[i] * std::sqrt(mean + x[i] * x[i])
                                  : added + x[i] * x[i];
  }
  return w;
}

[[nodiscard]] float reciprocal(float value) { return value != 0.0f ? 1.0f / value : 0.0f; }

void weigh(const float* x, const float* importances, float mean_square, float* w) {
  if (importances == nullptr) {
    weigh_by_square(x, 32, w);
  } else {
    weigh_by_importance(x, importances, mean_square, 32, w);
  }
}

/// 32 codes in 16 bytes.
void put_iq4_codes(const float* x, float scale, std::uint8_t* bytes) {
  const float t = reciprocal(scale);
  Codes<32> codes;
  for (std::size_t i = 0; i < 32; ++i) codes[i] = nearest_iq4(x[i] * t);
  put_nibbles(codes.data(), bytes);
}

void encode(const std::array<float, 32>& x, const float* importances, BlockIQ4_NL& block) {
  const float mean_square = sum_of_squares(x.data(), 32) * (2.0f / 32.0f);
  std::array<float, 32> w;
  weigh(x.data(), importances, mean_square, w.data());
  const float scale = search_iq4<32>(x.data(), w.data());
  put_scale(block.scale.data(), scale);
  put_iq4_codes(x.data(), scale, block.codes.data());
}

void encode(const std::array<float, 256>& x, const float* importances, BlockIQ4_XS& block) {
  const float mean_square = sum_of_squares(x.data(), 256) * (2.0f / 256.0f);
  std::array<float, 8> scales;
  for (std::size_t g = 0; g < 8; ++g) {
    const std::size_t first = 32 * g;
    std::array<float, 32> w;
    weigh(&x[first], importances == nullptr ? nullptr : importances + first, mean_square, w.data());
    scales[g] = search_iq4<32>(&x[first], w.data());
  }
  const float scale = -signed_extreme(scales.data(), 8) / 32.0f;
  put_scale(block.scale.data(), scale);
  const float t = reciprocal(scale);
  for (std::size_t g = 0; g < 8; ++g) {
    const int code = std::clamp(round_even(t * scales[g]), -32, 31);
    put_group_scale(g, code, block);
    put_iq4_codes(&x[32 * g], scale * to_float(code), &block.codes[16 * g]);
  }
}

}  // namespace

#define INGOT_IQ_ENCODER(name, enumerator, factor, share)                                       \
  void quantize_##enumerator##_ref(const FloatRows& rows) noexcept {                            \
    for_each_block<Block##name, 256>(                                                           \
        rows, [](const BlockValues& x, const float* importances, Block##name& block) noexcept { \
          encode_points<ScalarSearch>(x, value_weights(x, importances, factor, share), block);  \
        });                                                                                     \
  }
#include "codec/encode/iq_encoders.def"
#undef INGOT_IQ_ENCODER

INGOT_REFERENCE_ENCODER(IQ4_NL, iq4_nl)
INGOT_REFERENCE_ENCODER(IQ4_XS, iq4_xs)

}  // namespace ingot::codec
