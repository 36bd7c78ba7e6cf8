// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/fp4_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/fp4.hpp"
#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
constexpr std::array<float, 256> half_ue4m3_of_byte = [] {
  std::array<float, 256> scales{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    scales[byte] = half_ue4m3(static_cast<std::uint8_t>(byte));
  }
  return scales;
}();

template <class Store>
HWY_INLINE void Decode(const BlockMXFP4& block, float* dst, Store store) {
  const Products products(e2m1_doubled, hn::Set(FloatTag(), half_e8m0(block.exponent)));
  const Codes codes = LoadCodes(block.codes.data());
  products(codes, dst, store);
  products(ShiftRightMixing<4>(codes), dst + 16, store);
}

template <class Store>
HWY_INLINE void Decode(const BlockNVFP4& block, float* dst, Store store) {
  for (std::size_t group = 0; group < 4; group += 2) {
    const Codes low = LoadCodes(&block.codes[8 * group]);  // codes of two groups
    const Codes high = ShiftRightMixing<4>(low);
    const hn::Repartition<std::uint64_t, CodeTag> u64;
    const auto low_halves = hn::BitCast(u64, low);
    const auto high_halves = hn::BitCast(u64, high);
    Products(e2m1_doubled, hn::Set(FloatTag(), half_ue4m3_of_byte[block.scales[group]]))(
        hn::BitCast(CodeTag(), hn::InterleaveLower(u64, low_halves, high_halves)), dst + 16 * group,
        store);
    Products(e2m1_doubled, hn::Set(FloatTag(), half_ue4m3_of_byte[block.scales[group + 1]]))(
        hn::BitCast(CodeTag(), hn::InterleaveUpper(u64, low_halves, high_halves)),
        dst + 16 * group + 16, store);
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(MXFP4, mxfp4)
INGOT_DECODER(NVFP4, nvfp4)
