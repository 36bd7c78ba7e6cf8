// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/iq2_encode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/iq2_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/lattice_search_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeIQ2_XXS(const FloatRows& rows) { quantize_iq2_xxs_ref(rows); }
void QuantizeIQ2_XS(const FloatRows& rows) { quantize_iq2_xs_ref(rows); }
void QuantizeIQ2_S(const FloatRows& rows) { quantize_iq2_s_ref(rows); }
#else

struct EncodeIQ2_XXS {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ2_XXS& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.25f, w);
    if (IsTame(x, w)) {
      encode_iq2_xxs<LaneMethod>(x, w, block);
    } else {
      encode_iq2_xxs<ScalarMethod>(x, w, block);
    }
  }
};

void QuantizeIQ2_XXS(const FloatRows& rows) {
  EncodeBlocks<BlockIQ2_XXS>(rows, 1.0f, EncodeIQ2_XXS());
}

struct EncodeIQ2_XS {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ2_XS& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.25f, w);
    if (IsTame(x, w)) {
      encode_iq2_xs<LaneMethod>(x, w, block);
    } else {
      encode_iq2_xs<ScalarMethod>(x, w, block);
    }
  }
};

void QuantizeIQ2_XS(const FloatRows& rows) {
  EncodeBlocks<BlockIQ2_XS>(rows, 1.0f, EncodeIQ2_XS());
}

struct EncodeIQ2_S {
  HWY_INLINE void operator()(const BlockValues& x, float mean, const float* weights,
                             BlockIQ2_S& block) const {
    BlockValues w;
    FillImportances(x, weights, mean, 0.25f, w);
    if (IsTame(x, w)) {
      encode_iq2_s<LaneMethod>(x, w, block);
    } else {
      encode_iq2_s<ScalarMethod>(x, w, block);
    }
  }
};

void QuantizeIQ2_S(const FloatRows& rows) { EncodeBlocks<BlockIQ2_S>(rows, 2.0f, EncodeIQ2_S()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeIQ2_XXS);
void quantize_iq2_xxs(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ2_XXSKernels)(rows); }

INGOT_KERNELS(QuantizeIQ2_XS);
void quantize_iq2_xs(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ2_XSKernels)(rows); }

INGOT_KERNELS(QuantizeIQ2_S);
void quantize_iq2_s(const FloatRows& rows) noexcept { kernel_of(QuantizeIQ2_SKernels)(rows); }

}  // namespace ingot::codec
#endif
