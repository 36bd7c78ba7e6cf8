// SPDX-License-Identifier: MIT
// Types with one scale: many scales are tried; the best is stored and refined.
#define HWY_TARGET_INCLUDE "codec/best/one_scale_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/one_scale_inl.hpp"
#include "codec/encode/packing.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// Types that differ in their levels and in the scales that are tried.
template <class BlockType, std::size_t elements, class TypeLevels, class TypeCodes, class TypeTries>
struct SearchOneScale {
  using Block = BlockType;
  static constexpr std::size_t block_elements = elements;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, elements>& blocks, Block* dst) {
    const Rows<Lanes> x = blocks.x.All();
    const Rows<Lanes> w = blocks.w.All();
    const auto found =
        FindScale<Lanes, TypeLevels>(x, w, elements, TypeTries::list, TypeTries::has_both_signs);
    Tile<Lanes, 1> scale;
    scale.Set(0, RefineStoredScale<Lanes, TypeLevels>(x, w, elements, found));
    Tile<Lanes, elements> levels;
    PutLevels<Lanes, TypeLevels>(x, 0, elements, scale[0], levels);
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      put_f16(dst[lane].scale.data(), scale.At(0, lane));
      Codes<elements> codes;
      for (std::size_t i = 0; i < elements; ++i) codes[i] = TypeCodes::Of(levels.IntAt(i, lane));
      put_codes(codes, dst[lane]);
    }
  }
};

struct TriesQ4_0 {
  static constexpr bool has_both_signs = true;
  /// The second ones find weights that lie on a grid already, with any largest code.
  static constexpr ScaleTries list[] = {{6.0f, 10.0f, 16}, {2.5f, 6.0f, 15}};
};
struct TriesQ5_0 {
  static constexpr bool has_both_signs = true;
  static constexpr ScaleTries list[] = {{14.0f, 18.0f, 24}};
};
/// The codes exclude -128, which some engines cannot hold.
struct TriesQ8_0 {
  static constexpr bool has_both_signs = false;
  static constexpr ScaleTries list[] = {{110.0f, 128.4f, 40}};
};
struct TriesIq4 {
  static constexpr bool has_both_signs = true;
  static constexpr ScaleTries list[] = {{127.0f * 0.7f, 127.0f * 1.12f, 14}};
};
/// Scales from 0.15 to 1.05 of the largest magnitude.
struct TriesTernary {
  static constexpr bool has_both_signs = false;
  static constexpr ScaleTries list[] = {{1.0f / 0.15f, 1.0f / 1.05f, 48, true}};
};
struct TriesQ2_0 {
  static constexpr bool has_both_signs = true;
  static constexpr ScaleTries list[] = {{1.0f / 0.15f, 1.0f / 1.05f, 48, true}};
};

/// The signs of the reference, with the mean magnitude by the weights.
struct SearchQ1_0 {
  using Block = BlockQ1_0;
  static constexpr std::size_t block_elements = 128;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 128>& blocks, Block* dst) {
    auto sum = Lanes::Set(0.0f);
    auto weights = Lanes::Set(0.0f);
    for (std::size_t i = 0; i < 128; ++i) {
      sum = sum + blocks.w[i] * Lanes::Abs(blocks.x[i]);
      weights = weights + blocks.w[i];
    }
    Tile<Lanes, 1> scale;
    scale.Set(0, sum / weights);  // at least 1
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      dst[lane] = load_block<Block>(blocks.first_reference, lane);
      put_f16(dst[lane].scale.data(), scale.At(0, lane));
    }
  }
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_SEARCH(q4_0, SearchOneScale<BlockQ4_0, 32, UniformLevels<-8, 7>, LevelOffset<8>, TriesQ4_0>)
INGOT_SEARCH(q5_0,
             SearchOneScale<BlockQ5_0, 32, UniformLevels<-16, 15>, LevelOffset<16>, TriesQ5_0>)
INGOT_SEARCH(q8_0,
             SearchOneScale<BlockQ8_0, 32, UniformLevels<-127, 127>, LevelOffset<0>, TriesQ8_0>)
INGOT_SEARCH(iq4_nl, SearchOneScale<BlockIQ4_NL, 32, Iq4Levels, Iq4Codes, TriesIq4>)
INGOT_SEARCH(tq1_0,
             SearchOneScale<BlockTQ1_0, 256, UniformLevels<-1, 1>, LevelOffset<1>, TriesTernary>)
INGOT_SEARCH(tq2_0,
             SearchOneScale<BlockTQ2_0, 256, UniformLevels<-1, 1>, LevelOffset<1>, TriesTernary>)
INGOT_SEARCH(q2_0, SearchOneScale<BlockQ2_0, 64, UniformLevels<-1, 2>, LevelOffset<1>, TriesQ2_0>)
INGOT_SEARCH(q1_0, SearchQ1_0)
