// SPDX-License-Identifier: MIT
#include "codec/blocks/k6.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/k6_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ6_K(const FloatRows& rows) { quantize_q6_k_ref(rows); }
#else

/// Rounds the scales of the groups to multiples of the stored scale, and the codes to these.
HWY_INLINE void RoundToGroups(const LaneTile<256>& x, const LaneTile<16>& scales, LaneFloats t,
                              LaneTile<256>& codes, BlockQ6_K* blocks) {
  const LaneIntTag i32;
  const LaneFloats stored = PutHalves(hn::Div(Same(1.0f), t), blocks, offsetof(BlockQ6_K, scale));
  for (std::size_t first = 0; first < 16; first += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t g = first + i;
      const LaneInts rounded = RoundEven(hn::Mul(t, scales.Row(g)));
      bytes[i] = hn::And(hn::Min(rounded, hn::Set(i32, 127)), hn::Set(i32, 255));
      const LaneInts factor = hn::ShiftRight<24>(hn::ShiftLeft<24>(bytes[i]));
      RoundToScale<16>(LaneRows(x, 16 * g), hn::Mul(stored, hn::ConvertTo(LaneTag(), factor)),
                       Same(0.0f), -32, 31, codes.values + 16 * g * lane_count);
    }
    PutWords(JoinBytes(bytes), blocks, offsetof(BlockQ6_K, groups) + first);
  }
}

struct EncodeQ6_K {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockQ6_K* blocks) const {
    const LaneTag f32;
    LaneTile<256> codes;
    LaneTile<16> scales;
    for (std::size_t g = 0; g < 16; ++g) {
      const LaneRows values(x, 16 * g);
      LaneTile<16> squares;
      if (u == nullptr) WeighBySquare(values, squares);
      const LaneRows w = u == nullptr ? LaneRows(squares) : LaneRows(*u, 16 * g);
      float* group_codes = codes.values + 16 * g * lane_count;
      scales.SetRow(g, SearchSymmetric<16>(values, w, 32, group_codes));
    }
    const LaneFloats extreme = SignedExtreme(LaneRows(scales), 16);
    const LaneMask is_zero = hn::Lt(hn::Abs(extreme), Same(least_magnitude));
    const LaneFloats divisor = hn::IfThenElse(is_zero, Same(1.0f), extreme);
    RoundToGroups(x, scales, hn::Div(Same(-128.0f), divisor), codes, blocks);
    for (std::size_t half = 0; half < 2; ++half) {
      PutNibbles(codes.values + 128 * half * lane_count, 64, 64, blocks,
                 offsetof(BlockQ6_K, codes) + 64 * half);
    }
    PutBitPairs<4>(codes, blocks, offsetof(BlockQ6_K, high_bits));
    if (hn::AllFalse(f32, is_zero)) return;
    HWY_ALIGN float zeros[lane_count];
    hn::Store(hn::IfThenElseZero(is_zero, Same(1.0f)), f32, zeros);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (zeros[lane] != 0.0f) blocks[lane] = BlockQ6_K{};
    }
  }
};

void QuantizeQ6_K(const FloatRows& rows) { EncodeLanes<BlockQ6_K, 256>(rows, EncodeQ6_K()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ6_K);
void quantize_q6_k(const FloatRows& rows) noexcept { kernel_of(QuantizeQ6_KKernels)(rows); }

}  // namespace ingot::codec
#endif
