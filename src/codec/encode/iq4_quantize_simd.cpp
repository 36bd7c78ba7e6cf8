// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/iq4_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/iq.hpp"
#include "codec/encode/iq4_levels_inl.hpp"
#include "codec/encode/iq4_search.hpp"
#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// search_iq4 of iq4_search.hpp.
HWY_INLINE LaneFloats SearchIq4(LaneRows x, LaneRows w) {
  const NearestIq4 nearest;
  LaneFloats extreme = SignedExtreme(x, 32);
  const LaneMask is_live = hn::Not(hn::Lt(hn::Abs(extreme), Same(least_magnitude)));
  extreme = hn::IfThenElse(is_live, extreme, Same(1.0f));
  const LaneFloats zero = Same(0.0f);
  LaneBest found = {zero, zero, zero};
  // The try -8 stands for the first one, which has another rounding.
  for (int first = -8; first < 8; first += tries_at_once) {
    LaneFloats t[tries_at_once];
    LaneSums sums[tries_at_once];
    for (std::size_t j = 0; j < tries_at_once; ++j) {
      const int k = first + static_cast<int>(j);
      t[j] = hn::Div(Same(to_float(k) - 127.0f), extreme);
      sums[j] = {zero, zero};
    }
    if (first == -8) t[0] = hn::Div(Same(1.0f), hn::Div(extreme, Same(127.0f)));
    for (std::size_t i = 0; i < 32; ++i) {
      const LaneFloats value = x[i];
      const LaneFloats weight = w[i];
      for (std::size_t j = 0; j < tries_at_once; ++j) {
        const LaneFloats code_value = nearest.Value(hn::Mul(t[j], value));
        const LaneFloats product = hn::Mul(weight, code_value);
        sums[j].product = hn::Add(sums[j].product, hn::Mul(product, value));
        sums[j].square = hn::Add(sums[j].square, hn::Mul(product, code_value));
      }
    }
    std::size_t offered = 0;
    if (first == -8) {
      found.scale = ScaleOf(sums[0]);
      found.best = hn::Mul(found.scale, sums[0].product);
      offered = 1;
    }
    for (; offered < tries_at_once; ++offered) found.Offer(t[offered], sums[offered]);
  }
  return hn::IfThenElseZero(is_live, found.scale);
}

/// The scale of 32 values; with importances if `u` is not null.
HWY_INLINE LaneFloats SearchGroup(LaneRows x, const LaneRows* u, LaneFloats mean_square) {
  LaneTile<32> w;
  if (u == nullptr) {
    WeighBySquare(x, w);
  } else {
    WeighByImportance(x, *u, mean_square, w);
  }
  return SearchIq4(x, LaneRows(w));
}

HWY_INLINE LaneFloats Reciprocal(LaneFloats value) {
  const LaneMask is_zero = hn::Eq(value, Same(0.0f));
  return hn::IfThenZeroElse(is_zero, hn::Div(Same(1.0f), value));
}

template <class Block>
HWY_INLINE void PutGroupCodes(LaneRows x, LaneFloats scale, Block* blocks, std::size_t offset) {
  const NearestIq4 nearest;
  const LaneFloats t = Reciprocal(scale);
  LaneTile<32> codes;
  for (std::size_t i = 0; i < 32; ++i) {
    SetCodes(codes.values, i, nearest.Code(hn::Mul(x[i], t)));
  }
  PutNibbles(codes.values, 16, 16, blocks, offset);
}

struct EncodeIQ4_NL {
  HWY_INLINE void operator()(const LaneTile<32>& x, const LaneTile<32>* u,
                             BlockIQ4_NL* blocks) const {
    const LaneRows values(x);
    const LaneFloats mean_square = hn::Mul(SumOfSquares(values, 32), Same(2.0f / 32.0f));
    const LaneRows importances = u == nullptr ? LaneRows() : LaneRows(*u);
    const LaneFloats scale =
        SearchGroup(values, u == nullptr ? nullptr : &importances, mean_square);
    PutHalves(scale, blocks, offsetof(BlockIQ4_NL, scale));
    PutGroupCodes(values, scale, blocks, offsetof(BlockIQ4_NL, codes));
  }
};

/// Puts the codes of the groups' scales: bits 0 to 3, then bits 4 and 5 of all in one word.
HWY_INLINE void PutGroups(const LaneInts* codes, BlockIQ4_XS* blocks) {
  const LaneIntTag i32;
  const auto fifteen = hn::Set(i32, 15);
  LaneInts bytes[4];
  LaneInts high = hn::Zero(i32);
  for (std::size_t i = 0; i < 4; ++i) {
    const LaneInts odd = hn::And(codes[2 * i + 1], fifteen);
    bytes[i] = hn::Or(hn::And(codes[2 * i], fifteen), hn::ShiftLeft<4>(odd));
  }
  for (std::size_t g = 0; g < 8; ++g) {
    const LaneInts pair = hn::ShiftRight<4>(codes[g]);
    high = hn::Or(high, hn::ShiftLeftSame(pair, static_cast<int>(2 * g)));
  }
  PutWords(JoinBytes(bytes), blocks, offsetof(BlockIQ4_XS, group_low));
  HWY_ALIGN std::int32_t words[lane_count];
  hn::Store(high, i32, words);
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    put_u16(blocks[lane].group_high.data(), static_cast<std::uint16_t>(words[lane]));
  }
}

struct EncodeIQ4_XS {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockIQ4_XS* blocks) const {
    const LaneFloats sum = SumOfSquares(LaneRows(x), 256);
    const LaneFloats mean_square = hn::Mul(sum, Same(2.0f / 256.0f));
    LaneTile<8> scales;
    for (std::size_t g = 0; g < 8; ++g) {
      const LaneRows importances = u == nullptr ? LaneRows() : LaneRows(*u, 32 * g);
      const LaneRows* group_importances = u == nullptr ? nullptr : &importances;
      scales.SetRow(g, SearchGroup(LaneRows(x, 32 * g), group_importances, mean_square));
    }
    const LaneFloats extreme = SignedExtreme(LaneRows(scales), 8);
    const LaneFloats scale = hn::Div(hn::Neg(extreme), Same(32.0f));
    PutHalves(scale, blocks, offsetof(BlockIQ4_XS, scale));
    const LaneFloats t = Reciprocal(scale);
    const LaneCodes limits(-32, 31);
    LaneInts stored[8];
    for (std::size_t g = 0; g < 8; ++g) {
      const LaneFloats held = limits.Held(hn::Mul(t, scales.Row(g)));
      stored[g] = limits.Stored(held);
      PutGroupCodes(LaneRows(x, 32 * g), hn::Mul(scale, limits.Value(held)), blocks,
                    offsetof(BlockIQ4_XS, codes) + 16 * g);
    }
    PutGroups(stored, blocks);
  }
};
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeLanes, IQ4_NL, iq4_nl)
INGOT_ENCODER(EncodeLanes, IQ4_XS, iq4_xs)
