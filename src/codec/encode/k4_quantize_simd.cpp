// SPDX-License-Identifier: MIT
#include "codec/blocks/k4.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/k4_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/k45_search_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ4_K(const FloatRows& rows) { quantize_q4_k_ref(rows); }
#else

struct EncodeQ4_K {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockQ4_K* blocks) const {
    LaneTile<256> codes;
    SearchK45(x, u, q4_k_tries, codes, blocks);
    for (std::size_t part = 0; part < 4; ++part) {
      PutNibbles(codes.values + 64 * part * lane_count, 32, 32, blocks,
                 offsetof(BlockQ4_K, codes) + 32 * part);
    }
  }
};

void QuantizeQ4_K(const FloatRows& rows) { EncodeLanes<BlockQ4_K, 256>(rows, EncodeQ4_K()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ4_K);
void quantize_q4_k(const FloatRows& rows) noexcept { kernel_of(QuantizeQ4_KKernels)(rows); }

}  // namespace ingot::codec
#endif
