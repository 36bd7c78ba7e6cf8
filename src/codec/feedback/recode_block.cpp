// SPDX-License-Identifier: MIT
// recoders.def, expanded into functions.
#include "codec/feedback/recode_block.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/encode/packing.hpp"
#include "codec/feedback/recode_points.hpp"

namespace ingot::codec {
namespace {

// The levels that the scales of an encoded block leave to its weights, and how their codes are
// stored: types whose weights have codes of their own.
//
// Each grid has the Block, how many of its weights share levels (group), how many levels there are
// (count), Read, which writes the levels of a group in the order of their codes, and Code, the code
// of the level at a position. Levels ascend, or descend if the scale is negative.

template <std::size_t count>
using Levels = std::array<float, count>;

/// Levels scale * (first + i) - minimum, rounded as the decoders do it.
template <std::size_t count>
void read_uniform(float scale, int first, float minimum, Levels<count>& levels) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    levels[i] = scale * static_cast<float>(static_cast<int>(i) + first) - minimum;
  }
}

template <class BlockType, std::size_t group_elements, std::size_t level_count>
struct GridShape {
  using Block = BlockType;
  static constexpr std::size_t group = group_elements;
  static constexpr std::size_t count = level_count;
  static std::uint8_t Code(std::size_t position) noexcept {
    return static_cast<std::uint8_t>(position);
  }
};

/// One scale; the level of code 0 is `first` times it.
template <class Block, std::size_t elements, std::size_t count, int first>
struct ScaleGrid : GridShape<Block, elements, count> {
  static void Read(const Block& block, std::size_t, Levels<count>& levels) noexcept {
    read_uniform(f16_at(block.scale.data()), first, 0.0f, levels);
  }
};

/// One scale and a minimum that is added.
template <class Block, std::size_t count>
struct MinimumGrid : GridShape<Block, 32, count> {
  static void Read(const Block& block, std::size_t, Levels<count>& levels) noexcept {
    read_uniform(f16_at(block.scale.data()), 0, -f16_at(block.minimum.data()), levels);
  }
};

struct GridQ8_0 : ScaleGrid<BlockQ8_0, 32, 255, -127> {
  static std::uint8_t Code(std::size_t position) noexcept {  // codes in two's complement
    return static_cast<std::uint8_t>(static_cast<int>(position) - 127);
  }
};

struct GridQ2_K : GridShape<BlockQ2_K, 16, 4> {
  static void Read(const Block& block, std::size_t g, Levels<4>& levels) noexcept {
    const unsigned codes = block.groups[g];
    read_uniform(f16_at(block.scale.data()) * static_cast<float>(codes & 15u), 0,
                 f16_at(block.minimum.data()) * static_cast<float>(codes >> 4), levels);
  }
};

struct GridQ3_K : GridShape<BlockQ3_K, 16, 8> {
  static void Read(const Block& block, std::size_t g, Levels<8>& levels) noexcept {
    const auto factor = static_cast<float>(group_scale_of(block, g));
    read_uniform(f16_at(block.scale.data()) * factor, -4, 0.0f, levels);
  }
};

/// Q4_K and Q5_K.
template <class BlockType, std::size_t count>
struct GridQ45_K : GridShape<BlockType, 32, count> {
  static void Read(const BlockType& block, std::size_t g, Levels<count>& levels) noexcept {
    read_uniform(
        f16_at(block.scale.data()) * static_cast<float>(group_scale_of(block.groups, g)), 0,
        f16_at(block.minimum.data()) * static_cast<float>(group_minimum_of(block.groups, g)),
        levels);
  }
};

struct GridQ6_K : GridShape<BlockQ6_K, 16, 64> {
  static void Read(const Block& block, std::size_t g, Levels<64>& levels) noexcept {
    const float factor = static_cast<float>(static_cast<std::int8_t>(block.groups[g]));
    read_uniform(f16_at(block.scale.data()) * factor, -32, 0.0f, levels);
  }
};

inline void read_iq4(float scale, Levels<16>& levels) noexcept {
  for (std::size_t i = 0; i < 16; ++i) levels[i] = scale * static_cast<float>(iq4_values[i]);
}

struct GridIQ4_NL : GridShape<BlockIQ4_NL, 32, 16> {
  static void Read(const Block& block, std::size_t, Levels<16>& levels) noexcept {
    read_iq4(f16_at(block.scale.data()), levels);
  }
};

struct GridIQ4_XS : GridShape<BlockIQ4_XS, 32, 16> {
  static void Read(const Block& block, std::size_t g, Levels<16>& levels) noexcept {
    read_iq4(f16_at(block.scale.data()) * static_cast<float>(group_scale_of(block, g)), levels);
  }
};

/// The positive levels have the codes 0 to 7, their negatives 9 to 15.
template <class Block, std::size_t group_elements>
struct E2m1Grid : GridShape<Block, group_elements, 15> {
  static std::uint8_t Code(std::size_t position) noexcept {
    return static_cast<std::uint8_t>(position < 7 ? 15 - position : position - 7);
  }
  static void ReadScaled(float scale, Levels<15>& levels) noexcept {
    for (std::size_t i = 0; i < 15; ++i) {
      levels[i] = static_cast<float>(e2m1_doubled[Code(i)]) * scale;
    }
  }
};

struct GridMXFP4 : E2m1Grid<BlockMXFP4, 32> {
  static void Read(const Block& block, std::size_t, Levels<15>& levels) noexcept {
    ReadScaled(half_e8m0(block.exponent), levels);
  }
};

struct GridNVFP4 : E2m1Grid<BlockNVFP4, 16> {
  static void Read(const Block& block, std::size_t g, Levels<15>& levels) noexcept {
    ReadScaled(half_ue4m3(block.scales[g]), levels);
  }
};

struct GridQ1_0 : GridShape<BlockQ1_0, 128, 2> {
  static void Read(const Block& block, std::size_t, Levels<2>& levels) noexcept {
    const float scale = f16_at(block.scale.data());
    levels = {-scale, scale};
  }
};

/// Makes the codes of a block zeros, so that others can be put there.
template <class Block>
void clear_codes(Block& block) noexcept {
  if constexpr (requires { block.codes; }) block.codes = {};
  if constexpr (requires { block.high_bits; }) block.high_bits = {};
  if constexpr (requires { block.trits; }) block.trits = {};
  if constexpr (requires { block.signs; }) block.signs = {};
}

/// The position of the level that is nearest to x, among ascending ones; the lower one of two.
template <std::size_t count>
std::size_t nearest(const Levels<count>& levels, float x) noexcept {
  std::size_t found = 0;
  for (std::size_t rest = count; rest > 1;) {
    const std::size_t half = rest / 2;
    found += levels[found + half] <= x ? half : 0;
    rest -= half;
  }
  const bool is_next_nearer = found + 1 < count && levels[found + 1] - x < x - levels[found];
  return is_next_nearer ? found + 1 : found;
}

template <std::size_t elements, class Grid>
void recode_levels(std::byte* bytes, std::size_t first_column, float* row,
                   const InputMoments& moments) noexcept {
  using Block = typename Grid::Block;
  auto block = load_block<Block>(bytes, 0);
  Codes<elements> codes;
  for (std::size_t e = 0; e < elements;) {
    Levels<Grid::count> levels;
    Grid::Read(block, e / Grid::group, levels);
    const bool is_reversed = levels.front() > levels.back();
    if (is_reversed) std::ranges::reverse(levels);
    for (std::size_t i = 0; i < Grid::group; ++i, ++e) {
      const std::size_t column = first_column + e;
      const std::size_t position = nearest(levels, row[column]);
      codes[e] = Grid::Code(is_reversed ? Grid::count - 1 - position : position);
      moments.feed_back(column, row[column] - levels[position], row);
    }
  }
  clear_codes(block);
  put_codes(codes, block);
  store_block(block, bytes, 0);
}

struct Recoder {
  TensorType type;
  RecodeBlock recode;
};

constexpr std::array recoders = {
#define INGOT_RECODER(enumerator, recoder, ...) \
  Recoder{TensorType::enumerator, recoder<block_elements_of(TensorType::enumerator), __VA_ARGS__>},
#include "codec/feedback/recoders.def"
#undef INGOT_RECODER
};

}  // namespace

RecodeBlock find_recoder(TensorType type) noexcept {
  const auto found = std::ranges::find(recoders, type, &Recoder::type);
  return found != recoders.end() ? found->recode : nullptr;
}

}  // namespace ingot::codec
