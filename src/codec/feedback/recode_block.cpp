// SPDX-License-Identifier: MIT
// recoders.def, expanded into functions.
#include "codec/feedback/recode_block.hpp"

#include <algorithm>
#include <array>

#include "codec/feedback/level_grids.hpp"
#include "codec/feedback/recode_points.hpp"

namespace ingot::codec {
namespace {

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
