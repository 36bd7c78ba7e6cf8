// SPDX-License-Identifier: MIT
// MXFP4 and NVFP4: scales of 8 bits near to that of the reference.
#define HWY_TARGET_INCLUDE "codec/best/fp4_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/best_lanes_inl.hpp"
#include "codec/encode/packing.hpp"

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

/// Finds the best scale byte near to that of the reference. ScaleOf(byte) is the scale of the
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
  [[nodiscard]] std::uint8_t code(std::size_t i, std::size_t lane) const {
    return static_cast<std::uint8_t>(codes_.IntAt(i, lane));
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

/// The groups of a type, and the scale bytes that are tried for them.
struct GroupsMXFP4 {
  using Block = BlockMXFP4;
  static constexpr std::size_t elements = 32;
  static constexpr std::size_t count = 1;
  static constexpr int reach = 2;
  static constexpr int greatest = 254;
  static float ScaleOf(std::uint8_t byte) { return half_e8m0(byte); }
  static std::uint8_t& ByteOf(Block& block, std::size_t) { return block.exponent; }
};
/// Near to subnormal numbers the scales are coarse, and the reference's is often far from the best.
struct GroupsNVFP4 {
  using Block = BlockNVFP4;
  static constexpr std::size_t elements = 16;
  static constexpr std::size_t count = 4;
  static constexpr int reach = 12;
  static constexpr int greatest = 126;
  static float ScaleOf(std::uint8_t byte) { return half_ue4m3(byte); }
  static std::uint8_t& ByteOf(Block& block, std::size_t g) { return block.scales[g]; }
};

template <class Type>
struct SearchScaleBytes {
  using Block = typename Type::Block;
  static constexpr std::size_t size = Type::elements;
  static constexpr std::size_t block_elements = Type::count * size;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, block_elements>& blocks, Block* dst) {
    Codes<block_elements> codes[Lanes::count];
    for (std::size_t g = 0; g < Type::count; ++g) {
      int given[Lanes::count] = {};
      for (std::size_t lane = 0; lane < blocks.used; ++lane) {
        auto block = load_block<Block>(blocks.first_reference, lane);
        given[lane] = Type::ByteOf(block, g);
        if (Type::greatest < 127) given[lane] &= 127;  // the sign does not count
      }
      ScaleByte<Lanes, Type> search;
      search.Run(blocks.x.All().From(size * g), blocks.w.All().From(size * g), size, given);
      for (std::size_t lane = 0; lane < blocks.used; ++lane) {
        Type::ByteOf(dst[lane], g) = search.byte(lane);
        for (std::size_t i = 0; i < size; ++i) codes[lane][size * g + i] = search.code(i, lane);
      }
    }
    for (std::size_t lane = 0; lane < blocks.used; ++lane) put_codes(codes[lane], dst[lane]);
  }
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_SEARCH(mxfp4, SearchScaleBytes<GroupsMXFP4>)
INGOT_SEARCH(nvfp4, SearchScaleBytes<GroupsNVFP4>)
