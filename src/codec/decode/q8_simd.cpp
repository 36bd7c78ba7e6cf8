// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/q8_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/q8.hpp"
#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// dst[i] = codes[i] * scale
template <std::size_t count, class Store>
HWY_INLINE void DecodeBytes(const Bytes<count>& codes, Floats scale, float* dst, Store store) {
  const hn::Rebind<std::int8_t, FloatTag> i8;
  for (std::size_t i = 0; i < count; i += float_lanes) {
    const auto* levels = reinterpret_cast<const std::int8_t*>(&codes[i]);
    const auto integers = hn::PromoteTo(IntTag(), hn::LoadU(i8, levels));
    store(hn::Mul(hn::ConvertTo(FloatTag(), integers), scale), dst + i);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockQ8_0& block, float* dst, Store store) {
  DecodeBytes(block.codes, HalfAt(block.scale.data()), dst, store);
}

template <class Store>
HWY_INLINE void Decode(const BlockQ8_1& block, float* dst, Store store) {
  DecodeBytes(block.codes, HalfAt(block.scale.data()), dst, store);
}

template <class Store>
HWY_INLINE void Decode(const BlockQ8_K& block, float* dst, Store store) {
  const hn::RebindToUnsigned<FloatTag> u32;
  const Floats scale = hn::BitCast(FloatTag(), hn::Set(u32, u32_at(block.scale.data())));
  DecodeBytes(block.codes, scale, dst, store);
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(Q8_0, q8_0)
INGOT_DECODER(Q8_1, q8_1)
INGOT_DECODER(Q8_K, q8_k)
