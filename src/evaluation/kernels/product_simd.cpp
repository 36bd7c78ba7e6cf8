// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "evaluation/kernels/product_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include <utility>

#include "codec/cpu_targets.hpp"
#include "codec/kernel_choice.hpp"
#include "evaluation/kernels/product.hpp"
#include "evaluation/panels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::evaluation::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes: two vectors are at most a panel.
using Tag = hn::CappedTag<float, 16>;
using Floats = hn::Vec<Tag>;
constexpr std::size_t lanes = hn::MaxLanes(Tag());

// Sums that stay in registers: 24 of the 32 of AVX-512 and NEON, 12 of 16 elsewhere.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM_A64
constexpr std::size_t rows_at_once = 12;
#else
constexpr std::size_t rows_at_once = 6;
#endif
static_assert(group_rows % rows_at_once == 0 && rows_at_once % 3 == 0);

// Three rows share a pointer, so that the pointers stay in registers, too.
constexpr std::size_t pointer_count = rows_at_once / 3;

/// The sums of a vector of tokens, for rows_at_once rows. Arrays and not members of a class, whose
/// constructor g++ does not inline for NEON.
using Sums = Floats[rows_at_once];

template <std::size_t... r>
HWY_INLINE void AddColumn(std::index_sequence<r...>, const float* const (&weights)[pointer_count],
                          std::size_t stride, Floats x0, Floats x1, Sums& sums0, Sums& sums1) {
  const auto add = [&](Floats weight, Floats& first, Floats& second) HWY_ATTR {
    first = hn::MulAdd(weight, x0, first);
    second = hn::MulAdd(weight, x1, second);
  };
  (add(hn::Set(Tag(), weights[r / 3][r % 3 * stride]), sums0[r], sums1[r]), ...);
}

HWY_INLINE void StoreSum(Floats sum, float* y, bool adds) {
  hn::Store(adds ? hn::Add(sum, hn::Load(Tag(), y)) : sum, Tag(), y);
}

template <std::size_t... r>
HWY_INLINE void MultiplyRows(std::index_sequence<r...> rows, const WeightRows& weights,
                             std::size_t columns, const float* x, float* y, bool adds) {
  Sums sums0;
  Sums sums1;
  ((sums0[r] = hn::Zero(Tag()), sums1[r] = hn::Zero(Tag())), ...);
  const float* pointers[pointer_count];
  for (std::size_t i = 0; i < pointer_count; ++i) {
    pointers[i] = weights.data + 3 * i * weights.stride;
  }
  for (std::size_t k = 0; k < columns; ++k, x += panel_tokens) {
    AddColumn(rows, pointers, weights.stride, hn::Load(Tag(), x), hn::Load(Tag(), x + lanes), sums0,
              sums1);
    for (const float*& pointer : pointers) ++pointer;
  }
  const auto store = [&](std::size_t row, Floats first, Floats second) HWY_ATTR {
    if (row >= weights.row_count) return;
    StoreSum(first, y + row * panel_tokens, adds);
    StoreSum(second, y + row * panel_tokens + lanes, adds);
  };
  (store(r, sums0[r], sums1[r]), ...);
}

void MultiplyPanel(const WeightRows& weights, std::size_t columns, const float* x, float* y,
                   bool adds) {
  for (std::size_t row = 0; row < weights.row_count; row += rows_at_once) {
    const WeightRows part{weights.data + row * weights.stride, weights.stride,
                          weights.row_count - row};
    for (std::size_t token = 0; token < panel_tokens; token += 2 * lanes) {
      MultiplyRows(std::make_index_sequence<rows_at_once>(), part, columns, x + token,
                   y + row * panel_tokens + token, adds);
    }
  }
}

}  // namespace ingot::evaluation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::evaluation {

using codec::KernelTable;
INGOT_KERNELS(MultiplyPanel);

void multiply_panel(const WeightRows& weights, std::size_t columns, const float* x, float* y,
                    bool adds) noexcept {
  const auto position = static_cast<std::size_t>(codec::chosen_kernel_position());
  MultiplyPanelKernels[position](weights, columns, x, y, adds);
}

}  // namespace ingot::evaluation
#endif
