// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "codec/codec.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// Numbers that are decoded at once: whole blocks of every type, and few enough for the first cache
/// of every CPU.
constexpr std::size_t decoded_elements = 4096;
static_assert(statistics_piece % decoded_elements == 0);
static_assert(decoded_elements % codec::statistics_lanes == 0);

/// Adds consecutive numbers of a piece; those added before are a multiple of the lanes.
void add_numbers(std::span<const float> numbers, codec::LaneSums& sums) noexcept {
  const std::size_t whole = numbers.size() / codec::statistics_lanes * codec::statistics_lanes;
  codec::sum_lanes(numbers.data(), whole, sums);
  codec::sum_lanes_ref(numbers.data() + whole, numbers.size() - whole, sums);
}

/// All lanes as one, in one order: half of them is combined with the other half, until one is left.
template <class Number, class Combine>
Number fold(const float (&lanes)[codec::statistics_lanes], const Combine& combine) noexcept {
  Number folded[codec::statistics_lanes];
  std::copy(std::begin(lanes), std::end(lanes), folded);
  for (std::size_t half = codec::statistics_lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) folded[i] = combine(folded[i], folded[i + half]);
  }
  return folded[0];
}

/// Numbers with a mean square below this have squares that are no normal floats.
constexpr double least_mean_square = 1e-30;

/// The statistics of `count` numbers from their sums. Nothing where the sums are not enough: a NaN,
/// an infinity or an overflow makes them infinite or NaN; the squares of tiny numbers vanish; and
/// where the mean is far from zero compared with the spread, its square is most of their sum.
std::optional<Statistics> statistics_of(const codec::LaneSums& lanes, std::size_t count) noexcept {
  const double sum = fold<double>(lanes.sums, std::plus<>());
  const double squares = fold<double>(lanes.squares, std::plus<>());
  if (!std::isfinite(sum) || !std::isfinite(squares)) return std::nullopt;
  Statistics result;
  result.count = count;
  result.zeros = lanes.zeros;
  // Adding zero drops the sign of a zero, which depends on the CPU.
  result.min = fold<float>(lanes.minima, [](float a, float b) { return b < a ? b : a; }) + 0.0;
  result.max = fold<float>(lanes.maxima, [](float a, float b) { return b > a ? b : a; }) + 0.0;
  result.mean = sum / static_cast<double>(count);
  const double squares_of_mean = result.mean * sum;
  if (squares_of_mean > squares / 2) return std::nullopt;
  const bool has_only_zeros = result.zeros == count;
  if (!has_only_zeros && squares < least_mean_square * static_cast<double>(count)) {
    return std::nullopt;
  }
  result.squares = std::max(0.0, squares - squares_of_mean);
  return result;
}

/// The same in double and in two passes, for any numbers; some five times as slow.
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

/// Blocks of at most statistics_piece elements.
struct BlockPiece {
  const TensorTypeInfo& type;
  const std::byte* bytes;
  std::size_t block_count;
  Endian byte_order;

  /// Decodes `count` blocks from number `first` on; returns their floats, which fill part of `to`.
  [[nodiscard]] Result<std::span<const float>> decode(std::size_t first, std::size_t count,
                                                      std::span<float> to) const {
    const std::byte* src = bytes + first * type.block_bytes;
    const std::span<float> floats = to.first(count * type.block_elements);
    if (byte_order == Endian::little) {
      codec::find_codec(type.type)->dequantize(src, floats.data(), count, codec::Stores::cached);
    } else {
      INGOT_TRY_VOID(dequantize(type.type, std::span(src, count * type.block_bytes), floats,
                                {.byte_order = byte_order, .stores = OutputStores::cached}));
    }
    return floats;
  }
};

Statistics compute_piece(std::span<const float> numbers) noexcept {
  codec::LaneSums sums;
  add_numbers(numbers, sums);
  const auto result = statistics_of(sums, numbers.size());
  return result ? *result : compute_exactly(numbers);
}

Result<Statistics> compute_piece_exactly(const BlockPiece& piece) {
  float floats[statistics_piece];
  INGOT_TRY(const auto numbers, piece.decode(0, piece.block_count, floats));
  return compute_exactly(numbers);
}

Result<Statistics> compute_piece(const BlockPiece& piece) {
  alignas(64) float floats[decoded_elements];
  const std::size_t chunk_blocks = decoded_elements / piece.type.block_elements;
  codec::LaneSums sums;
  for (std::size_t first = 0; first < piece.block_count; first += chunk_blocks) {
    const std::size_t count = std::min(chunk_blocks, piece.block_count - first);
    INGOT_TRY(const auto numbers, piece.decode(first, count, floats));
    add_numbers(numbers, sums);
  }
  const auto result = statistics_of(sums, piece.block_count * piece.type.block_elements);
  if (result) return *result;
  return compute_piece_exactly(piece);
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
  const std::size_t block_count = blocks.size() / info->block_bytes;
  const std::size_t piece_blocks = statistics_piece / info->block_elements;
  Statistics result;
  for (std::size_t first = 0; first < block_count; first += piece_blocks) {
    INGOT_TRY(const Statistics piece,
              compute_piece(BlockPiece{*info, blocks.data() + first * info->block_bytes,
                                       std::min(piece_blocks, block_count - first), byte_order}));
    result.add(piece);
  }
  return result;
}

}  // namespace ingot
