// SPDX-License-Identifier: MIT
// MXFP4 and NVFP4: scales of 8 bits near to that of the reference.
#define HWY_TARGET_INCLUDE "codec/best/fp4_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/best_lanes_inl.hpp"
#include "codec/best/packing.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// A level of E2M1, doubled, and its code, of a magnitude that is divided by the scale. Halfway,
/// the smaller one.
template <class Lanes>
struct E2m1 {
  typename Lanes::Floats level;
  typename Lanes::Floats code;
};

template <class Lanes>
HWY_INLINE E2m1<Lanes> NearestE2m1(typename Lanes::Floats magnitude) {
  // Levels 0 1 2 3 4 6 8 12.
  static constexpr float middles[] = {0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f};
  static constexpr float steps[] = {1.0f, 1.0f, 1.0f, 1.0f, 2.0f, 2.0f, 4.0f};
  const auto zero = Lanes::Set(0.0f);
  E2m1<Lanes> nearest = {zero, zero};
  for (std::size_t i = 0; i < 7; ++i) {
    const auto is_above = Lanes::Less(Lanes::Set(middles[i]), magnitude);
    nearest.level = nearest.level + Lanes::Select(is_above, Lanes::Set(steps[i]), zero);
    nearest.code = nearest.code + Lanes::Select(is_above, Lanes::Set(1.0f), zero);
  }
  return nearest;
}

/// The best of scale bytes near to those of the reference. ScaleOf(byte) is the scale of the
/// doubled levels.
template <class Lanes, class Range>
class ScaleByte {
 public:
  using Floats = typename Lanes::Floats;

  /// `given` are the bytes of the reference, for each lane.
  HWY_INLINE void Run(Rows<Lanes> x, Rows<Lanes> w, std::size_t count, const int* given) {
    Floats error = Lanes::Set(no_error);
    best_byte_.Set(0, Lanes::Set(0.0f));
    for (int step = -Range::reach; step <= Range::reach; ++step) {
      Tile<Lanes, 2> tried;
      for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
        const int byte = std::clamp(given[lane] + step, 0, Range::greatest);
        tried.values[lane] = static_cast<float>(byte);
        tried.values[Lanes::count + lane] = Range::ScaleOf(static_cast<std::uint8_t>(byte));
      }
      const Floats next = Error(x, w, count, tried[1]);
      const auto is_better = Lanes::Less(next, error);
      error = Lanes::Select(is_better, next, error);
      best_byte_.Set(0, Lanes::Select(is_better, tried[0], best_byte_[0]));
    }
    Tile<Lanes, 1> scale;
    for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
      scale.values[lane] = Range::ScaleOf(byte(lane));
    }
    const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale[0]);
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = NearestE2m1<Lanes>(Lanes::Abs(x[i]) * inverse).code;
      const auto is_negative =
          Lanes::Both(Lanes::Less(x[i], Lanes::Set(0.0f)), Lanes::Less(Lanes::Set(0.0f), code));
      codes_.Set(i, code + Lanes::Select(is_negative, Lanes::Set(8.0f), Lanes::Set(0.0f)));
    }
  }

  [[nodiscard]] std::uint8_t byte(std::size_t lane) const {
    return static_cast<std::uint8_t>(best_byte_.IntAt(0, lane));
  }
  [[nodiscard]] unsigned code(std::size_t i, std::size_t lane) const {
    return static_cast<unsigned>(codes_.IntAt(i, lane));
  }

 private:
  static HWY_INLINE Floats Error(Rows<Lanes> x, Rows<Lanes> w, std::size_t count, Floats scale) {
    const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
    Floats error = Lanes::Set(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      const Floats magnitude = Lanes::Abs(x[i]);
      const Floats level = NearestE2m1<Lanes>(magnitude * inverse).level;
      const Floats difference = magnitude - scale * level;
      error = error + w[i] * difference * difference;
    }
    return error;
  }

  Tile<Lanes, 1> best_byte_;
  Tile<Lanes, 32> codes_;
};

struct RangeMXFP4 {
  static constexpr int reach = 2;
  static constexpr int greatest = 254;
  static float ScaleOf(std::uint8_t byte) { return half_e8m0(byte); }
};
/// Near to subnormal numbers the scales are coarse, and the reference's is often far from the best.
struct RangeNVFP4 {
  static constexpr int reach = 12;
  static constexpr int greatest = 126;
  static float ScaleOf(std::uint8_t byte) { return half_ue4m3(byte); }
};

struct SearchMXFP4 {
  using Block = BlockMXFP4;
  static constexpr std::size_t block_elements = 32;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 32>& blocks, Block* dst) {
    int given[Lanes::count] = {};
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      given[lane] = load_block<Block>(blocks.first_reference, lane).exponent;
    }
    ScaleByte<Lanes, RangeMXFP4> search;
    search.Run(blocks.x.All(), blocks.w.All(), 32, given);
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      dst[lane].exponent = search.byte(lane);
      for (std::size_t i = 0; i < 16; ++i) {
        dst[lane].codes[i] =
            static_cast<std::uint8_t>(search.code(i, lane) | search.code(i + 16, lane) << 4);
      }
    }
  }
};

struct SearchNVFP4 {
  using Block = BlockNVFP4;
  static constexpr std::size_t block_elements = 64;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 64>& blocks, Block* dst) {
    for (std::size_t g = 0; g < 4; ++g) {
      int given[Lanes::count] = {};
      for (std::size_t lane = 0; lane < blocks.used; ++lane) {
        given[lane] = load_block<Block>(blocks.first_reference, lane).scales[g] & 127;
      }
      ScaleByte<Lanes, RangeNVFP4> search;
      search.Run(blocks.x.All().From(16 * g), blocks.w.All().From(16 * g), 16, given);
      for (std::size_t lane = 0; lane < blocks.used; ++lane) {
        dst[lane].scales[g] = search.byte(lane);
        for (std::size_t i = 0; i < 8; ++i) {
          dst[lane].codes[8 * g + i] =
              static_cast<std::uint8_t>(search.code(i, lane) | search.code(i + 8, lane) << 4);
        }
      }
    }
  }
};

INGOT_SEARCH(MXFP4)
INGOT_SEARCH(NVFP4)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_EXPORT_SEARCH(MXFP4, mxfp4)
INGOT_EXPORT_SEARCH(NVFP4, nvfp4)
