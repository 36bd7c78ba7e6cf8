// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/iq1_encode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/iq1_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/iq1_cuts_inl.hpp"
#include "codec/encode/superblocks_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeIQ1_S(const FloatRows& rows) { quantize_iq1_s_ref(rows); }
void QuantizeIQ1_M(const FloatRows& rows) { quantize_iq1_m_ref(rows); }
#else

struct EncodeIQ1_S {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ1_S& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.0f, w);
    if (IsTame(x, w)) {
      encode_iq1_s<LaneCuts>(x, w, block);
    } else {
      encode_iq1_s<ScalarCuts>(x, w, block);
    }
  }
};

void QuantizeIQ1_S(const FloatRows& rows) { EncodeBlocks<BlockIQ1_S>(rows, 2.0f, EncodeIQ1_S()); }

struct EncodeIQ1_M {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ1_M& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.0f, w);
    if (IsTame(x, w)) {
      encode_iq1_m<LaneCuts>(x, w, block);
    } else {
      encode_iq1_m<ScalarCuts>(x, w, block);
    }
  }
};

void QuantizeIQ1_M(const FloatRows& rows) { EncodeBlocks<BlockIQ1_M>(rows, 2.0f, EncodeIQ1_M()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeIQ1_S);
void quantize_iq1_s(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ1_SKernels)(rows); }

INGOT_KERNELS(QuantizeIQ1_M);
void quantize_iq1_m(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ1_MKernels)(rows); }

}  // namespace ingot::codec
#endif
