// SPDX-License-Identifier: MIT
#include <iterator>
#include <span>

#include "codec/blocks/k.hpp"
#include "codec/codec.hpp"
#include "codec/statistics/group_sums.hpp"

namespace ingot::codec {
namespace {

struct GroupTotal {
  double sum = 0.0;
  double squares = 0.0;
};

GroupTotal total_of(std::span<const float, 16> group) noexcept {
  GroupTotal total;
  for (const double weight : group) {
    total.sum += weight;
    total.squares += weight * weight;
  }
  return total;
}

/// The total of scale * code - minimum.
GroupTotal total_of(const BlockQ2_K& block, std::size_t g) noexcept {
  const double scale = f16_at(block.scale.data()) * static_cast<float>(block.groups[g] & 15u);
  const double minimum = f16_at(block.minimum.data()) * static_cast<float>(block.groups[g] >> 4);
  unsigned codes = 0;
  unsigned squares = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint8_t byte = block.codes[32 * (g / 8) + 16 * (g % 2) + i];
    const unsigned code = byte >> (2 * (g % 8 / 2)) & 3u;
    codes += code;
    squares += code * code;
  }
  const double scaled = scale * codes;
  const double sum = scaled - 16.0 * minimum;
  return {sum, scale * scale * squares - minimum * (scaled + sum)};
}

}  // namespace

void sum_groups_ref(TensorType type, const std::byte* src, std::size_t run_count,
                    GroupSums& sums) noexcept {
  const std::size_t run_bytes = static_cast<std::size_t>(find_type(type)->bytes_of(summed_run));
  const std::size_t run_blocks = summed_run / find_type(type)->block_elements;
  for (std::size_t run = 0; run < run_count; ++run, src += run_bytes) {
    float weights[summed_run];
    find_codec(type)->dequantize_ref(src, weights, run_blocks);
    GroupTotal totals[summed_run / 16];
    for (std::size_t g = 0; g < std::size(totals); ++g) {
      totals[g] = type == TensorType::q2_k
                      ? total_of(load_block<BlockQ2_K>(src, 0), g)
                      : total_of(std::span<const float, 16>(weights + 16 * g, 16));
    }
    for (std::size_t lane = 0; lane < group_lanes; ++lane) {
      sums.sums[lane] += totals[lane].sum + totals[lane + group_lanes].sum;
      sums.squares[lane] += totals[lane].squares + totals[lane + group_lanes].squares;
    }
  }
  sums.open_runs = ~std::uint64_t{0} >> (64 - run_count);
}

}  // namespace ingot::codec
