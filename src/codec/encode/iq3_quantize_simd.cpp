// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/iq3_encode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/iq3_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/lattice_search_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeIQ3_XXS(const FloatRows& rows) { quantize_iq3_xxs_ref(rows); }
void QuantizeIQ3_S(const FloatRows& rows) { quantize_iq3_s_ref(rows); }
#else

struct EncodeIQ3_XXS {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ3_XXS& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.0f, w);
    if (IsTame(x, w)) {
      encode_iq3_xxs<LaneMethod>(x, w, block);
    } else {
      encode_iq3_xxs<ScalarMethod>(x, w, block);
    }
  }
};

void QuantizeIQ3_XXS(const FloatRows& rows) {
  EncodeBlocks<BlockIQ3_XXS>(rows, 2.0f, EncodeIQ3_XXS());
}

struct EncodeIQ3_S {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ3_S& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.0f, w);
    if (IsTame(x, w)) {
      encode_iq3_s<LaneMethod>(x, w, block);
    } else {
      encode_iq3_s<ScalarMethod>(x, w, block);
    }
  }
};

void QuantizeIQ3_S(const FloatRows& rows) { EncodeBlocks<BlockIQ3_S>(rows, 2.0f, EncodeIQ3_S()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeIQ3_XXS);
void quantize_iq3_xxs(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ3_XXSKernels)(rows); }

INGOT_KERNELS(QuantizeIQ3_S);
void quantize_iq3_s(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ3_SKernels)(rows); }

}  // namespace ingot::codec
#endif
