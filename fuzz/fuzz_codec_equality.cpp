// SPDX-License-Identifier: MIT
// Property: for any bytes, every CPU target decodes to the reference's floats and adds them up to
// the reference's sums; for any floats, every CPU target encodes to the reference's bytes, and a
// search finds what it finds one block at a time.
//
// Input: type, what to do, then the bytes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "codec/best/best.hpp"
#include "codec/codec.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "ingot/error_feedback.hpp"
#include "ingot/quantize.hpp"
#include "support/forced_target.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool are_nan = a[i] != a[i] && b[i] != b[i];
    if (!are_nan && std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
      return false;
    }
  }
  return true;
}

/// Inputs of this size show everything, and slow types stay fast enough.
constexpr std::size_t max_blocks = 40;

void check_decoding(const TensorTypeInfo& info, std::span<const std::byte> bytes) {
  const codec::Codec& codec = *codec::find_codec(info.type);
  const std::size_t block_count = std::min(max_blocks, bytes.size() / info.block_bytes);
  std::vector<float> expected(block_count * info.block_elements);
  std::vector<float> actual(expected.size());
  codec.dequantize_ref(bytes.data(), expected.data(), block_count);
  for (const std::int64_t target : test::cpu_targets()) {
    const test::ForcedTarget forced(target);
    codec.dequantize(bytes.data(), actual.data(), block_count, codec::Stores::cached);
    require(same_bits(expected, actual));
    codec.dequantize(bytes.data(), actual.data(), block_count, codec::Stores::streamed);
    require(same_bits(expected, actual));
  }
}

/// Every CPU target has the same sums; with a NaN, extremes are undefined.
void check_sums(const TensorTypeInfo& info, std::span<const std::byte> bytes) {
  const std::size_t block_count = std::min(max_blocks, bytes.size() / info.block_bytes);
  std::vector<float> floats(block_count * info.block_elements);
  codec::find_codec(info.type)->dequantize_ref(bytes.data(), floats.data(), block_count);
  const std::size_t whole = floats.size() / codec::statistics_lanes * codec::statistics_lanes;
  codec::LaneSums expected;
  codec::sum_lanes_ref(floats.data(), whole, expected);
  const bool are_numbers =
      std::all_of(floats.begin(), floats.end(), [](float value) { return !std::isnan(value); });
  for (const std::int64_t target : test::cpu_targets()) {
    const test::ForcedTarget forced(target);
    codec::LaneSums actual;
    codec::sum_lanes(floats.data(), whole, actual);
    require(same_bits(expected.sums, actual.sums) && same_bits(expected.squares, actual.squares));
    if (!are_numbers) continue;
    // Zeros of both signs are equal.
    require(std::ranges::equal(expected.minima, actual.minima));
    require(std::ranges::equal(expected.maxima, actual.maxima));
    require(expected.zeros == actual.zeros);
  }
}

/// Encodes the rows, whose destination is `actual`, with the best effort.
void check_search(codec::FloatRows rows, TensorType type, std::vector<std::byte>& expected,
                  std::vector<std::byte>& actual) {
  const codec::BestEncoder* const encoder = codec::find_best_encoder(type);
  if (encoder == nullptr) return;
  codec::BestEncoder one_lane = *encoder;
  one_lane.search = encoder->search_ref;
  rows.dst = expected.data();
  codec::quantize_best(one_lane, rows);
  rows.dst = actual.data();
  for (const std::int64_t target : test::cpu_targets()) {
    const test::ForcedTarget forced(target);
    codec::quantize_best(*encoder, rows);
    require(expected == actual);
  }
}

/// The output error that is told is that of what was written. Inputs are as if independent.
void check_feedback(TensorType type, std::span<const float> floats, std::span<std::byte> blocks) {
  if (!has_feedback(type)) return;
  constexpr std::size_t block = 32;
  std::vector<float> identity(block * block);
  for (std::size_t i = 0; i < block; ++i) identity[i * block + i] = 1.0f;
  InputMoments moments(floats.size(), block, true);
  for (std::size_t i = 0; i < moments.block_count(); ++i) {
    const std::size_t columns = moments.columns_of(i);
    require(moments.set_block(i, std::span(identity).first(columns * columns)));
  }
  const auto told = quantize_with_feedback(type, floats, blocks, moments);
  require(told.has_value());
  std::vector<float> decoded(floats.size());
  require(dequantize(type, blocks, decoded).has_value());
  const double measured = measure_outputs(floats, decoded, moments)->error;
  require(told->error == measured || std::isnan(told->error) || std::isnan(measured));
}

/// One row: half of the bytes are its floats, the other half its importances, if it has any.
void check_encoding(const TensorTypeInfo& info, bool has_weights,
                    std::span<const std::byte> bytes) {
  const codec::Codec& codec = *codec::find_codec(info.type);
  const std::size_t parts = has_weights ? 2 : 1;
  const std::size_t block_floats = info.block_elements * sizeof(float);
  const std::size_t limit = info.block_elements == 256 ? 3 : max_blocks;
  const std::size_t block_count = std::min(limit, bytes.size() / parts / block_floats);
  std::vector<float> floats(block_count * info.block_elements);
  std::vector<float> weights(floats.size(), 1.0f);
  if (floats.empty()) return;
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  if (has_weights) {
    std::memcpy(weights.data(), bytes.data() + floats.size() * sizeof(float),
                weights.size() * sizeof(float));
    for (float& weight : weights) {
      if (!(weight >= -1e38f && weight <= 1e38f)) weight = 1.0f;  // quantize() refuses others
    }
  }
  std::vector<std::byte> expected(block_count * info.block_bytes);
  std::vector<std::byte> actual(expected.size());
  codec::FloatRows rows = {.src = floats.data(),
                           .dst = expected.data(),
                           .row_elements = floats.size(),
                           .row_count = 1,
                           .importances = has_weights ? weights.data() : nullptr};
  codec.quantize_ref(rows);
  rows.dst = actual.data();
  for (const std::int64_t target : test::cpu_targets()) {
    const test::ForcedTarget forced(target);
    codec.quantize(rows);
    require(expected == actual);
  }
  check_search(rows, info.type, expected, actual);
  check_feedback(info.type, floats, actual);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const TensorTypeInfo& info = live_tensor_types[data[0] % live_tensor_types.size()];
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(2);
  const unsigned what = data[1] % 3;
  if (what == 0) {
    check_decoding(info, bytes);
    check_sums(info, bytes);
  } else {
    check_encoding(info, what == 2 || info.weights == ImportanceWeights::required, bytes);
  }
  return 0;
}
