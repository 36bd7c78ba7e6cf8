// SPDX-License-Identifier: MIT
// Property: statistics and errors count every number exactly once, however the numbers are cut, and
// no number makes them negative. Those of blocks have the extremes and zeros of their floats.

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "byte_input.hpp"
#include "ingot/diff.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "ingot/statistics.hpp"
#include "ingot/tensor_profile.hpp"
#include "ingot/types.hpp"

namespace {

using namespace ingot;
using fuzz::require;

std::uint64_t numbers_in(const Statistics& statistics) {
  return statistics.count + statistics.nans + statistics.infinities;
}

void require_same_counts(const Statistics& a, const Statistics& b) {
  require(a.count == b.count && a.zeros == b.zeros && a.min == b.min && a.max == b.max);
  require(a.nans == b.nans && a.infinities == b.infinities);
}

void check_blocks(const TensorTypeInfo& type, std::span<const std::byte> bytes) {
  const std::size_t block_count = bytes.size() / type.block_bytes;
  const auto blocks = bytes.first(block_count * type.block_bytes);
  std::vector<float> floats(block_count * type.block_elements);
  require(dequantize(type.type, blocks, floats).has_value());
  const auto statistics = compute_statistics(type.type, blocks);
  require(statistics.has_value());
  require_same_counts(*statistics, compute_statistics(floats));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteInput input(data, size);
  const std::uint64_t piece = 1 + input.take<std::uint8_t>();
  WeightDistance distance;
  distance.squared_b = input.take<double>();
  const std::string bytes = input.rest();
  std::vector<float> numbers(bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  const std::span<const float> all(numbers);
  const auto grid = find_grid(all, static_cast<std::size_t>(32 * piece));
  require(!grid || !grid_text(*grid).empty());
  require(grid || effort_for(TensorType::q4_0, grid) == Effort::reference);

  check_blocks(live_tensor_types[piece % live_tensor_types.size()],
               std::as_bytes(std::span(bytes)));
  require(numbers_in(compute_statistics(all)) == all.size());
  Statistics sum;
  const auto add = [&](std::uint64_t first, std::uint64_t count) {
    sum.add(compute_statistics(
        all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))));
    return Result<void>{};
  };
  require(spread(all.size(), piece, 1, add).has_value() && numbers_in(sum) == all.size());
  require(!(sum.deviation() < 0));
  require(threads_for(static_cast<unsigned>(piece), all.size()) >= 1);

  QuantizationError error = measure_error(all, all.subspan(all.size() / 2));
  require(error.count <= all.size() - all.size() / 2);
  error.add(measure_error(all, all));
  require(!(error.rmse() < 0));
  static_cast<void>(error.sqnr_db());
  distance.error = error;
  static_cast<void>(distance.cosine());
  return 0;
}
