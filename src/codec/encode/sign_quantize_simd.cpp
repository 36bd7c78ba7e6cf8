// SPDX-License-Identifier: MIT
#include "codec/blocks/sign.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/sign_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/batches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ1_0(const FloatRows& rows) { quantize_q1_0_ref(rows); }
#else
constexpr std::size_t batch = 32;

/// Four values from `src`, four from `src` + 4 * stride, and so on.
template <class D>
HWY_INLINE hn::Vec<D> LoadQuads(D f32, const float* src, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(f32, src);
  } else {
    const hn::Half<D> half;
    return hn::Combine(f32, LoadQuads(half, src + hn::MaxLanes(D()) / 2 * stride, stride),
                       LoadQuads(half, src, stride));
  }
}

/// Adds the magnitudes of four elements of wide_lanes blocks, one after the other: lane b is block
/// b.
HWY_INLINE WideFloats AddMagnitudes(const float* src, WideFloats sums) {
  const WideTag f32;
  const hn::Repartition<double, WideTag> f64;
  const auto a = LoadQuads(f32, src, 128);  // of blocks 0, 4, ..; b of blocks 1, 5, ..
  const auto b = LoadQuads(f32, src + 128, 128);
  const auto c = LoadQuads(f32, src + 2 * 128, 128);
  const auto d = LoadQuads(f32, src + 3 * 128, 128);
  const auto ab01 = hn::BitCast(f64, hn::InterleaveLower(f32, a, b));
  const auto ab23 = hn::BitCast(f64, hn::InterleaveUpper(f32, a, b));
  const auto cd01 = hn::BitCast(f64, hn::InterleaveLower(f32, c, d));
  const auto cd23 = hn::BitCast(f64, hn::InterleaveUpper(f32, c, d));
  const auto element0 = hn::BitCast(f32, hn::InterleaveLower(f64, ab01, cd01));
  const auto element1 = hn::BitCast(f32, hn::InterleaveUpper(f64, ab01, cd01));
  const auto element2 = hn::BitCast(f32, hn::InterleaveLower(f64, ab23, cd23));
  const auto element3 = hn::BitCast(f32, hn::InterleaveUpper(f64, ab23, cd23));
  sums = hn::Add(sums, hn::Abs(element0));
  sums = hn::Add(sums, hn::Abs(element1));
  sums = hn::Add(sums, hn::Abs(element2));
  return hn::Add(sums, hn::Abs(element3));
}

/// Bit i is set unless value i is negative.
HWY_INLINE void StoreSigns(const float* src, BlockQ1_0& block) {
  const hn::CappedTag<float, 8> f32;
  for (std::size_t byte = 0; byte < 16; ++byte) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 8; i += hn::Lanes(f32)) {
      const auto x = hn::LoadU(f32, src + 8 * byte + i);
      bits |= MaskBits(f32, hn::Ge(x, hn::Zero(f32))) << i;
    }
    block.signs[byte] = static_cast<std::uint8_t>(bits);
  }
}

/// One block per lane, and several vectors of lanes at a time, since each sum is a chain.
struct EncodeQ1_0 {
  HWY_INLINE bool operator()(const float* src, BlockQ1_0* blocks) const {
    const WideTag f32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    constexpr std::size_t vectors = batch / wide_lanes;
    WideFloats sums[vectors];
    for (auto& sum : sums) sum = hn::Zero(f32);
    for (std::size_t i = 0; i < 128; i += 4) {
      for (std::size_t v = 0; v < vectors; ++v) {
        sums[v] = AddMagnitudes(src + v * wide_lanes * 128 + i, sums[v]);
      }
    }
    HWY_ALIGN std::uint16_t scales[batch];
    for (std::size_t v = 0; v < vectors; ++v) {
      // A sum that overflows is all right, but the reference shall see where it comes from.
      const auto limit = hn::Set(f32, std::numeric_limits<float>::max());
      if (!hn::AllTrue(f32, hn::Le(sums[v], limit))) return false;
      const auto scale = hn::Mul(sums[v], hn::Set(f32, 1.0f / 128));
      hn::Store(HalfBits(f32, scale), u16, scales + v * wide_lanes);
    }
    for (std::size_t b = 0; b < batch; ++b) {
      put_u16(blocks[b].scale.data(), scales[b]);
      StoreSigns(src + b * 128, blocks[b]);
    }
    return true;
  }
};

void QuantizeQ1_0(const FloatRows& rows) {
  EncodeBatches<BlockQ1_0, 128, batch>(rows, quantize_q1_0_ref, EncodeQ1_0());
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ1_0);
void quantize_q1_0(const FloatRows& rows) noexcept { kernel_of(QuantizeQ1_0Kernels)(rows); }

}  // namespace ingot::codec
#endif
