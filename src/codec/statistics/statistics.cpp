// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>

#include "codec/blocks/block_fields.hpp"
#include "codec/codec.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "codec/statistics/runs.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// One number after the other, in double: for what the fast sums cannot do.
Statistics compute_exactly(std::span<const float> numbers) noexcept {
  Statistics result;
  double sum = 0.0;
  for (const float number : numbers) {
    if (std::isnan(number)) {
      ++result.nans;
    } else if (std::isinf(number)) {
      ++result.infinities;
    } else {
      ++result.count;
      if (number == 0.0f) ++result.zeros;
      result.min = std::min(result.min, static_cast<double>(number) + 0.0);  // no -0
      result.max = std::max(result.max, static_cast<double>(number) + 0.0);
      sum += number;
    }
  }
  if (result.count == 0) return result;
  result.mean = sum / static_cast<double>(result.count);
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const double distance = number - result.mean;
    result.squares += distance * distance;
  }
  return result;
}

/// Nothing where the sums cannot tell: they are infinite or NaN if a number is, or if they
/// overflow; and far from the mean, the squares hold little else than the distance to it.
std::optional<Statistics> statistics_of(const codec::NumberSums& sums, float center,
                                        std::size_t number_count) noexcept {
  if (!std::isfinite(sums.squares) || !std::isfinite(sums.sum)) return std::nullopt;
  const auto count = static_cast<double>(number_count);
  const double shift = sums.sum / count;
  const double shift_squares = count * shift * shift;
  if (shift_squares > sums.squares / 2 && sums.squares > 0.0) return std::nullopt;
  Statistics result;
  result.count = number_count;
  result.zeros = sums.zeros;
  result.min = sums.min;
  result.max = sums.max;
  result.mean = center + shift;
  result.squares = std::max(0.0, sums.squares - shift_squares);
  return result;
}

std::optional<Statistics> compute_around(float center, std::span<const float> numbers) noexcept {
  codec::LaneSums lanes;
  codec::sum_lanes(numbers.data(), numbers.size(), center, lanes);
  codec::NumberSums sums;
  codec::add_lanes(lanes, sums);
  return statistics_of(sums, center, numbers.size());
}

/// The middle of a few numbers: good enough to keep the squares of all of them small.
float center_of(std::span<const float> numbers) noexcept {
  constexpr std::size_t few = 16;
  const auto first = numbers.first(std::min(few, numbers.size()));
  const double sum = std::accumulate(first.begin(), first.end(), 0.0);
  return static_cast<float>(sum / static_cast<double>(first.size()));
}

/// What sums around zero, where weights lie, cannot tell.
Statistics compute_off_zero(std::span<const float> numbers) noexcept {
  const auto around_center = compute_around(center_of(numbers), numbers);
  return around_center ? *around_center : compute_exactly(numbers);
}

Statistics compute_piece(std::span<const float> numbers) noexcept {
  const std::size_t whole = numbers.size() / codec::statistics_lanes * codec::statistics_lanes;
  if (whole == 0) return compute_exactly(numbers);
  const auto around_zero = compute_around(0.0f, numbers.first(whole));
  Statistics result = around_zero ? *around_zero : compute_off_zero(numbers.first(whole));
  result.add(compute_exactly(numbers.subspan(whole)));
  return result;
}

/// Blocks of a piece, as they lie in a file.
struct BlockPiece {
  TensorType type;
  std::span<const std::byte> bytes;
  std::size_t element_count;
  Endian byte_order;
};

/// Sums around zero of little-endian blocks. What is known of the extremes spares a look at most
/// weights; they count as if they were of this piece.
std::optional<Statistics> sum_blocks(const BlockPiece& piece, const Statistics& known) noexcept {
  codec::NumberSums sums;
  sums.min = static_cast<float>(known.min);
  sums.max = static_cast<float>(known.max);
  codec::find_codec(piece.type)
      ->sum(piece.bytes.data(), piece.element_count / find_type(piece.type)->block_elements, sums);
  return statistics_of(sums, 0.0f, piece.element_count);
}

/// The same of big-endian ones, swapped first; for types that have runs. The others are decoded, to
/// the same floats.
std::optional<Statistics> sum_swapped(const BlockPiece& piece, const Statistics& known) noexcept {
  constexpr std::size_t most_bytes = statistics_piece;  // runs have less than 8 bits per weight
  std::byte bytes[most_bytes];
  const std::span copy = std::span(bytes).first(piece.bytes.size());
  std::copy(piece.bytes.begin(), piece.bytes.end(), copy.begin());
  codec::swap_fields(codec::swapped_fields(piece.type), find_type(piece.type)->block_bytes, copy);
  return sum_blocks({piece.type, copy, piece.element_count, Endian::little}, known);
}

Result<Statistics> compute_piece(const BlockPiece& piece, const Statistics& known) noexcept {
  std::optional<Statistics> around_zero;
  if (piece.element_count % codec::statistics_lanes == 0) {
    if (piece.byte_order == Endian::little) {
      around_zero = sum_blocks(piece, known);
    } else if (codec::run_shape_of(piece.type).elements != 0) {
      around_zero = sum_swapped(piece, known);
    }
  }
  if (around_zero) return *around_zero;
  alignas(64) float floats[statistics_piece];
  const std::span numbers = std::span(floats).first(piece.element_count);
  INGOT_TRY_VOID(dequantize(piece.type, piece.bytes, numbers,
                            {.byte_order = piece.byte_order, .stores = OutputStores::cached}));
  return compute_piece(numbers);
}

}  // namespace

double Statistics::deviation() const noexcept {
  return count == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(count));
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979.
void Statistics::add(const Statistics& other) noexcept {
  zeros += other.zeros;
  nans += other.nans;
  infinities += other.infinities;
  if (other.count == 0) return;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  const auto mine = static_cast<double>(count);
  const auto theirs = static_cast<double>(other.count);
  count += other.count;
  const double distance = other.mean - mean;
  const double share = theirs / (mine + theirs);
  mean += distance * share;
  squares += other.squares + distance * distance * mine * share;
}

Statistics compute_statistics(std::span<const float> numbers) noexcept {
  Statistics result;
  while (!numbers.empty()) {
    const std::size_t count = std::min(statistics_piece, numbers.size());
    result.add(compute_piece(numbers.first(count)));
    numbers = numbers.subspan(count);
  }
  return result;
}

Result<Statistics> compute_statistics(TensorType type, std::span<const std::byte> blocks,
                                      Endian byte_order) {
  const TensorTypeInfo* info = find_type(type);
  if (info == nullptr) {
    return fail(Errc::unsupported_type, std::to_string(static_cast<std::uint32_t>(type)));
  }
  if (blocks.size() % info->block_bytes != 0) {
    return fail(Errc::size_mismatch, std::string(info->name),
                std::to_string(blocks.size()) + " bytes, not a multiple of " +
                    std::to_string(info->block_bytes));
  }
  const std::size_t piece_bytes = statistics_piece / info->block_elements * info->block_bytes;
  Statistics result;
  while (!blocks.empty()) {
    const auto bytes = blocks.first(std::min(piece_bytes, blocks.size()));
    const std::size_t element_count = bytes.size() / info->block_bytes * info->block_elements;
    INGOT_TRY(const Statistics piece,
              compute_piece({type, bytes, element_count, byte_order}, result));
    result.add(piece);
    blocks = blocks.subspan(bytes.size());
  }
  return result;
}

}  // namespace ingot
