// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "evaluation/kernels/exponentials_simd.cpp"
#include <hwy/foreach_target.h>  // before all of Highway

// clang-format off
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include "codec/cpu_targets.hpp"
#include "codec/kernel_choice.hpp"
#include "evaluation/kernels/exponentials.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::evaluation::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
constexpr std::size_t lanes = hn::MaxLanes(Tag());
static_assert(panel_tokens % lanes == 0);

/// e^x, and 0 where x is not a number, whose conversion to an integer C++ leaves open.
template <class V>
HWY_INLINE V Exponential(V x) {
  const Tag tag;
  const auto least = hn::Set(tag, -105.0F);  // e^-105 is 0 as a float
  return hn::Exp(tag, hn::IfThenElse(hn::Ge(x, least), x, least));
}

void WeighScores(float* scores, std::size_t key_count, PanelSoftmax& softmax, float* factors) {
  const Tag tag;
  for (std::size_t token = 0; token < panel_tokens; token += lanes) {
    const auto earlier = hn::Load(tag, softmax.largest.data() + token);
    auto largest = earlier;
    for (std::size_t key = 0; key < key_count; ++key) {
      largest = hn::Max(largest, hn::Load(tag, scores + key * panel_tokens + token));
    }
    const auto factor = Exponential(hn::Sub(earlier, largest));
    auto sum = hn::Mul(hn::Load(tag, softmax.sums.data() + token), factor);
    for (std::size_t key = 0; key < key_count; ++key) {
      float* row = scores + key * panel_tokens + token;
      const auto weight = Exponential(hn::Sub(hn::Load(tag, row), largest));
      hn::Store(weight, tag, row);
      sum = hn::Add(sum, weight);
    }
    hn::Store(largest, tag, softmax.largest.data() + token);
    hn::Store(sum, tag, softmax.sums.data() + token);
    hn::Store(factor, tag, factors + token);
  }
}

void ScaleTokens(float* rows, std::size_t row_count, const float* factors) {
  const Tag tag;
  for (std::size_t row = 0; row < row_count; ++row, rows += panel_tokens) {
    for (std::size_t token = 0; token < panel_tokens; token += lanes) {
      hn::Store(hn::Mul(hn::Load(tag, rows + token), hn::Load(tag, factors + token)), tag,
                rows + token);
    }
  }
}

void Sigmoids(float slope, float* x, std::size_t count) {
  const Tag tag;
  const auto one = hn::Set(tag, 1.0F);
  // e^88 is below the largest float; 1 / (1 + e^88) is 0 to any sum that it is part of.
  const auto most = hn::Set(tag, 88.0F);
  const auto of = [&](auto y) HWY_ATTR {
    const auto power = hn::Min(hn::Mul(hn::Set(tag, -slope), y), most);
    return hn::Div(one, hn::Add(one, Exponential(power)));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(of(hn::LoadU(tag, x + i)), tag, x + i);
  if (i == count) return;
  float rest[lanes] = {};
  for (std::size_t k = 0; i + k < count; ++k) rest[k] = x[i + k];
  hn::StoreU(of(hn::LoadU(tag, rest)), tag, rest);
  for (std::size_t k = 0; i + k < count; ++k) x[i + k] = rest[k];
}

}  // namespace ingot::evaluation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::evaluation {

using codec::KernelTable;
INGOT_KERNELS(WeighScores);
INGOT_KERNELS(ScaleTokens);
INGOT_KERNELS(Sigmoids);

namespace {

std::size_t position() { return static_cast<std::size_t>(codec::chosen_kernel_position()); }

}  // namespace

void weigh_scores(float* scores, std::size_t key_count, PanelSoftmax& softmax,
                  float* factors) noexcept {
  WeighScoresKernels[position()](scores, key_count, softmax, factors);
}

void scale_tokens(float* rows, std::size_t row_count, const float* factors) noexcept {
  ScaleTokensKernels[position()](rows, row_count, factors);
}

void sigmoids(float slope, std::span<float> x) noexcept {
  SigmoidsKernels[position()](slope, x.data(), x.size());
}

}  // namespace ingot::evaluation
#endif
