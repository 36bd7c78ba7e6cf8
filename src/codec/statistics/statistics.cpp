// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "codec/statistics/lane_sums.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// Numbers that are decoded at once: whole blocks of every type, and few enough for the first cache
/// of every CPU.
constexpr std::size_t chunk_elements = 4096;
static_assert(statistics_piece % chunk_elements == 0);
static_assert(chunk_elements % codec::statistics_lanes == 0);

/// Adds consecutive numbers of a piece; those added before are a multiple of the lanes.
void add_numbers(std::span<const float> numbers, codec::LaneSums& sums) noexcept {
  const std::size_t whole = numbers.size() / codec::statistics_lanes * codec::statistics_lanes;
  codec::sum_lanes(numbers.data(), whole, sums);
  codec::sum_lanes_ref(numbers.data() + whole, numbers.size() - whole, sums);
}

/// The sum of lanes in double, in one order: half of them is added to the other half, until one is
/// left.
double total_of(const float (&lanes)[codec::statistics_lanes]) noexcept {
  double sums[codec::statistics_lanes];
  std::copy(std::begin(lanes), std::end(lanes), sums);
  for (std::size_t half = codec::statistics_lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

/// Numbers with a mean square below this have squares that are no normal floats.
constexpr double least_mean_square = 1e-30;

/// The statistics of `count` numbers from their sums. Nothing where the sums are not enough: a NaN,
/// an infinity or an overflow makes them infinite or NaN; the squares of tiny numbers vanish; and
/// where the mean is far from zero compared with the spread, its square is most of their sum.
std::optional<Statistics> statistics_of(const codec::LaneSums& lanes, std::size_t count) noexcept {
  const double sum = total_of(lanes.sums);
  const double squares = total_of(lanes.squares);
  if (!std::isfinite(sum) || !std::isfinite(squares)) return std::nullopt;
  Statistics result;
  result.count = count;
  result.zeros = lanes.zeros;
  // Adding zero drops the sign of a zero, which depends on the CPU.
  result.min = *std::min_element(std::begin(lanes.minima), std::end(lanes.minima)) + 0.0;
  result.max = *std::max_element(std::begin(lanes.maxima), std::end(lanes.maxima)) + 0.0;
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
  const TensorTypeInfo* type;
  std::span<const std::byte> bytes;
  Endian byte_order;

  [[nodiscard]] std::size_t element_count() const noexcept {
    return bytes.size() / type->block_bytes * type->block_elements;
  }

  /// Decodes elements first .. first + floats.size() - 1, which are whole blocks.
  [[nodiscard]] Result<void> decode(std::size_t first, std::span<float> floats) const {
    const auto bytes_of = [this](std::size_t elements) {
      return elements / type->block_elements * type->block_bytes;
    };
    return dequantize(type->type, bytes.subspan(bytes_of(first), bytes_of(floats.size())), floats,
                      {.byte_order = byte_order, .stores = OutputStores::cached});
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
  const std::span numbers = std::span(floats).first(piece.element_count());
  INGOT_TRY_VOID(piece.decode(0, numbers));
  return compute_exactly(numbers);
}

Result<Statistics> compute_piece(const BlockPiece& piece) {
  alignas(64) float floats[chunk_elements];
  const std::size_t element_count = piece.element_count();
  codec::LaneSums sums;
  for (std::size_t first = 0; first < element_count; first += chunk_elements) {
    const auto chunk = std::span(floats).first(std::min(chunk_elements, element_count - first));
    INGOT_TRY_VOID(piece.decode(first, chunk));
    add_numbers(chunk, sums);
  }
  const auto result = statistics_of(sums, element_count);
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
  const std::size_t piece_bytes = statistics_piece / info->block_elements * info->block_bytes;
  Statistics result;
  while (!blocks.empty()) {
    const auto bytes = blocks.first(std::min(piece_bytes, blocks.size()));
    INGOT_TRY(const Statistics piece, compute_piece(BlockPiece{info, bytes, byte_order}));
    result.add(piece);
    blocks = blocks.subspan(bytes.size());
  }
  return result;
}

}  // namespace ingot
