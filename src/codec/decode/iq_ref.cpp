// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/blocks/iq.hpp"
#include "codec/decode/decoding_ref.hpp"
#include "codec/lattice/point_grids.hpp"

namespace ingot::codec {
namespace {

/// The octets of a super-block, decode_octet(points, k, factor) one after the other.
template <class Grid, class DecodeOctet>
void decode_octets(const typename Grid::Block& block, float* dst,
                   const DecodeOctet& decode_octet) noexcept {
  const BlockPoints points = points_of(block);
  for (std::size_t k = 0; k < 32; ++k, dst += 8) {
    const float factor = Grid::Factor(points.scale, points.group_codes[k / Grid::group]);
    std::ranges::copy(decode_octet(points, k, factor), dst);
  }
}

void decode(const BlockIQ1_S& block, float* dst) noexcept {
  decode_octets<GridIQ1_S>(block, dst, decode_shifted_octet);
}

void decode(const BlockIQ1_M& block, float* dst) noexcept {
  decode_octets<GridIQ1_M>(block, dst, decode_shifted_octet);
}

void decode(const BlockIQ2_XXS& block, float* dst) noexcept {
  decode_octets<GridIQ2_XXS>(block, dst, decode_signed_octet<GridIQ2_XXS>);
}

void decode(const BlockIQ2_XS& block, float* dst) noexcept {
  decode_octets<GridIQ2_XS>(block, dst, decode_signed_octet<GridIQ2_XS>);
}

void decode(const BlockIQ2_S& block, float* dst) noexcept {
  decode_octets<GridIQ2_S>(block, dst, decode_signed_octet<GridIQ2_S>);
}

void decode(const BlockIQ3_XXS& block, float* dst) noexcept {
  decode_octets<GridIQ3_XXS>(block, dst, decode_signed_octet<GridIQ3_XXS>);
}

void decode(const BlockIQ3_S& block, float* dst) noexcept {
  decode_octets<GridIQ3_S>(block, dst, decode_signed_octet<GridIQ3_S>);
}

/// 32 codes in 16 bytes.
void decode_iq4(const std::uint8_t* bytes, float scale, float* dst) noexcept {
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = scale * static_cast<float>(iq4_values[bytes[i] & 15]);
    dst[i + 16] = scale * static_cast<float>(iq4_values[bytes[i] >> 4]);
  }
}

void decode(const BlockIQ4_NL& block, float* dst) noexcept {
  decode_iq4(block.codes.data(), f16_at(block.scale.data()), dst);
}

void decode(const BlockIQ4_XS& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t g = 0; g < 8; ++g) {
    const float group_scale = scale * static_cast<float>(group_scale_of(block, g));
    decode_iq4(&block.codes[16 * g], group_scale, dst + 32 * g);
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(IQ1_S, iq1_s)
INGOT_REFERENCE_DECODER(IQ1_M, iq1_m)
INGOT_REFERENCE_DECODER(IQ2_XXS, iq2_xxs)
INGOT_REFERENCE_DECODER(IQ2_XS, iq2_xs)
INGOT_REFERENCE_DECODER(IQ2_S, iq2_s)
INGOT_REFERENCE_DECODER(IQ3_XXS, iq3_xxs)
INGOT_REFERENCE_DECODER(IQ3_S, iq3_s)
INGOT_REFERENCE_DECODER(IQ4_NL, iq4_nl)
INGOT_REFERENCE_DECODER(IQ4_XS, iq4_xs)

}  // namespace ingot::codec
