// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/iq1_encode.hpp"
#include "codec/encode/iq2_encode.hpp"
#include "codec/encode/iq3_encode.hpp"
#include "codec/encode/iq4_search.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {
namespace {

/// How much each value matters, by its size too; `importances` may be null.
BlockValues value_weights(const BlockValues& x, const float* importances, float square) noexcept {
  BlockValues w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = importances != nullptr ? importances[i] * std::sqrt(square + x[i] * x[i])
                                  : 0.25f * square + x[i] * x[i];
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
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<std::uint8_t>(nearest_iq4(x[i] * t) | nearest_iq4(x[i + 16] * t) << 4);
  }
}

void encode_iq4_nl(const std::array<float, 32>& x, const float* importances, BlockIQ4_NL& block) {
  const float mean_square = sum_of_squares(x.data(), 32) * (2.0f / 32.0f);
  std::array<float, 32> w;
  weigh(x.data(), importances, mean_square, w.data());
  const float scale = search_iq4<32>(x.data(), w.data());
  put_scale(block.scale.data(), scale);
  put_iq4_codes(x.data(), scale, block.codes.data());
}

void encode_iq4_xs(const std::array<float, 256>& x, const float* importances, BlockIQ4_XS& block) {
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
  unsigned group_high = 0;
  for (std::size_t g = 0; g < 8; ++g) {
    const int code = std::clamp(round_even(t * scales[g]), -32, 31);
    const auto stored = static_cast<unsigned>(code + 32);
    block.group_low[g / 2] |= static_cast<std::uint8_t>((stored & 15) << (4 * (g % 2)));
    group_high |= stored >> 4 << (2 * g);
    put_iq4_codes(&x[32 * g], scale * to_float(code), &block.codes[16 * g]);
  }
  put_u16(block.group_high.data(), static_cast<std::uint16_t>(group_high));
}

}  // namespace

void quantize_iq1_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_S, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ1_S& block) noexcept {
        encode_iq1_s<ScalarCuts>(x, value_weights(x, importances), block);
      });
}

void quantize_iq1_m_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_M, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ1_M& block) noexcept {
        encode_iq1_m<ScalarCuts>(x, value_weights(x, importances), block);
      });
}

void quantize_iq2_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XXS, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ2_XXS& block) noexcept {
        const BlockValues w = value_weights(x, importances, mean_square(x, 1.0f));
        encode_iq2_xxs<ScalarMethod>(x, w, block);
      });
}

void quantize_iq2_xs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XS, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ2_XS& block) noexcept {
        const BlockValues w = value_weights(x, importances, mean_square(x, 1.0f));
        encode_iq2_xs<ScalarMethod>(x, w, block);
      });
}

void quantize_iq2_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_S, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ2_S& block) noexcept {
        const BlockValues w = value_weights(x, importances, mean_square(x, 2.0f));
        encode_iq2_s<ScalarMethod>(x, w, block);
      });
}

void quantize_iq3_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_XXS, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ3_XXS& block) noexcept {
        encode_iq3_xxs<ScalarMethod>(x, value_weights(x, importances), block);
      });
}

void quantize_iq3_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_S, 256>(
      rows, [](const BlockValues& x, const float* importances, BlockIQ3_S& block) noexcept {
        encode_iq3_s<ScalarMethod>(x, value_weights(x, importances), block);
      });
}

void quantize_iq4_nl_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ4_NL, 32>(rows, encode_iq4_nl);
}

void quantize_iq4_xs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ4_XS, 256>(rows, encode_iq4_xs);
}

}  // namespace ingot::codec
