// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "codec/codec.hpp"
#include "codec/statistics/group_sums.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// The numbers that are decoded at once: whole blocks of every type, and few enough for the first
/// cache of every CPU.
constexpr std::size_t decoded_elements = 4096;
static_assert(statistics_piece % decoded_elements == 0);
static_assert(decoded_elements % codec::statistics_lanes == 0);

/// Adds consecutive numbers of a piece; those added before are a multiple of the lanes.
void add_numbers(std::span<const float> numbers, codec::LaneSums& sums) noexcept {
  const std::size_t whole = numbers.size() / codec::statistics_lanes * codec::statistics_lanes;
  codec::sum_lanes(numbers.data(), whole, sums);
  codec::sum_lanes_ref(numbers.data() + whole, numbers.size() - whole, sums);
}

/// Combines all lanes in a fixed order: half of them with the other half, until one is left.
template <class Number, class Lane, std::size_t lane_count, class Combine>
Number fold(const Lane (&lanes)[lane_count], const Combine& combine) noexcept {
  Number folded[lane_count];
  std::copy(std::begin(lanes), std::end(lanes), folded);
  for (std::size_t half = lane_count / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) folded[i] = combine(folded[i], folded[i + half]);
  }
  return folded[0];
}

/// Numbers with a mean square below this have squares that are no normal floats.
constexpr double least_mean_square = 1e-30;

/// The sums of numbers after one pass.
struct Sums {
  double sum = 0.0;
  double squares = 0.0;  ///< Sum of squares.
  codec::Extremes extremes;
  std::uint64_t zeros = 0;
};

codec::Extremes extremes_of(const codec::LaneSums& lanes) noexcept {
  return {fold<float>(lanes.minima, [](float a, float b) { return b < a ? b : a; }),
          fold<float>(lanes.maxima, [](float a, float b) { return b > a ? b : a; })};
}

Sums fold(const codec::LaneSums& lanes) noexcept {
  return {fold<double>(lanes.sums, std::plus<>()), fold<double>(lanes.squares, std::plus<>()),
          extremes_of(lanes), lanes.zeros};
}

/// The statistics of `count` numbers from their sums. Nothing where the sums are not enough: a NaN,
/// an infinity or an overflow makes them infinite or NaN; the squares of tiny numbers vanish; and
/// where the mean is far from zero compared with the spread, its square is most of their sum.
std::optional<Statistics> statistics_of(const Sums& sums, std::size_t count) noexcept {
  if (!std::isfinite(sums.sum) || !std::isfinite(sums.squares)) return std::nullopt;
  Statistics result;
  result.count = count;
  result.zeros = sums.zeros;
  // Adding zero drops the sign of a zero, which depends on the CPU.
  result.min = sums.extremes.least + 0.0;
  result.max = sums.extremes.most + 0.0;
  result.mean = sums.sum / static_cast<double>(count);
  const double squares_of_mean = result.mean * sums.sum;
  if (squares_of_mean > sums.squares / 2) return std::nullopt;
  const bool has_only_zeros = result.zeros == count;
  if (!has_only_zeros && sums.squares < least_mean_square * static_cast<double>(count)) {
    return std::nullopt;
  }
  result.squares = std::max(0.0, sums.squares - squares_of_mean);
  return result;
}

/// Computes the statistics in double and in two passes, for any numbers; about five times as slow.
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
      result.min = std::min(result.min, static_cast<double>(number) + 0.0);  // avoids -0
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

  [[nodiscard]] std::size_t element_count() const { return block_count * type.block_elements; }

  /// `count` blocks from number `first` on.
  [[nodiscard]] BlockPiece part(std::size_t first, std::size_t count) const {
    return {type, bytes + first * type.block_bytes, count, byte_order};
  }

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
  const auto result = statistics_of(fold(sums), numbers.size());
  return result ? *result : compute_exactly(numbers);
}

Result<Statistics> compute_piece_exactly(const BlockPiece& piece) {
  float floats[statistics_piece];
  INGOT_TRY(const auto numbers, piece.decode(0, piece.block_count, floats));
  return compute_exactly(numbers);
}

Result<Sums> sum_floats(const BlockPiece& piece) {
  alignas(64) float floats[decoded_elements];
  const std::size_t chunk_blocks = decoded_elements / piece.type.block_elements;
  codec::LaneSums sums;
  for (std::size_t first = 0; first < piece.block_count; first += chunk_blocks) {
    const std::size_t count = std::min(chunk_blocks, piece.block_count - first);
    INGOT_TRY(const auto numbers, piece.decode(first, count, floats));
    add_numbers(numbers, sums);
  }
  return fold(sums);
}

/// Reads the floats of open runs for the facts that their levels do not tell.
void close_runs(const BlockPiece& runs, codec::GroupSums& groups, codec::Extremes& known) {
  if (groups.open_runs == 0) return;
  const std::size_t run_blocks = codec::summed_run / runs.type.block_elements;
  alignas(64) float floats[codec::summed_run];
  codec::LaneSums lanes;
  for (std::uint64_t rest = groups.open_runs; rest != 0; rest &= rest - 1) {
    const auto run = static_cast<std::size_t>(std::countr_zero(rest));
    add_numbers(runs.decode(run * run_blocks, run_blocks, floats).value(), lanes);
  }
  const codec::Extremes found = extremes_of(lanes);
  known = {std::min(known.least, found.least), std::max(known.most, found.most)};
  groups.zeros += lanes.zeros;
}

/// The sums of a piece in whole runs. Extends the extremes that are known of the pieces before.
Sums sum_groups(const BlockPiece& piece, codec::SumGroups sum_runs, codec::Extremes& known) {
  const std::size_t run_blocks = codec::summed_run / piece.type.block_elements;
  const std::size_t run_count = piece.block_count / run_blocks;
  codec::GroupSums groups;
  // The more runs are known, the fewer of the next ones are open.
  for (std::size_t first = 0, count = 1; first < run_count; first += count, count = first) {
    count = std::min(count, run_count - first);
    const BlockPiece runs = piece.part(first * run_blocks, count * run_blocks);
    sum_runs(runs.bytes, count, known, groups);
    close_runs(runs, groups, known);
  }
  return {fold<double>(groups.sums, std::plus<>()), fold<double>(groups.squares, std::plus<>()),
          known, groups.zeros};
}

Result<Sums> sums_of(const BlockPiece& piece, codec::Extremes& known) {
  const codec::SumGroups sum_runs = codec::find_group_sums(piece.type.type);
  const bool has_whole_runs = piece.element_count() % codec::summed_run == 0;
  if (sum_runs == nullptr || !has_whole_runs) return sum_floats(piece);
  if (piece.byte_order == Endian::little) return sum_groups(piece, sum_runs, known);
  std::byte little[statistics_piece / 2];
  const std::span<std::byte> blocks(little, piece.block_count * piece.type.block_bytes);
  std::memcpy(blocks.data(), piece.bytes, blocks.size());
  INGOT_TRY_VOID(swap_byte_order(piece.type.type, blocks));
  return sum_groups({piece.type, little, piece.block_count, Endian::little}, sum_runs, known);
}

Result<Statistics> compute_piece(const BlockPiece& piece, codec::Extremes& known) {
  codec::Extremes extended = known;
  INGOT_TRY(const Sums sums, sums_of(piece, extended));
  const auto result = statistics_of(sums, piece.element_count());
  if (!result) return compute_piece_exactly(piece);  // its extremes may be infinite
  known = extended;
  return *result;
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
  const BlockPiece all = {*info, blocks.data(), block_count, byte_order};
  codec::Extremes known;
  Statistics result;
  for (std::size_t first = 0; first < block_count; first += piece_blocks) {
    const std::size_t count = std::min(piece_blocks, block_count - first);
    INGOT_TRY(const Statistics piece, compute_piece(all.part(first, count), known));
    result.add(piece);
  }
  return result;
}

}  // namespace ingot
