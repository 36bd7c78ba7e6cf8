// SPDX-License-Identifier: MIT
// What tests of every tensor type with every kernel are parameterised by.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "codec/codec.hpp"
#include "ingot/types.hpp"
#include "support/forced_target.hpp"

namespace ingot::test {

using TypeAndTarget = std::tuple<TensorTypeInfo, std::int64_t>;

[[nodiscard]] inline auto every_type_and_target() {
  return testing::Combine(testing::ValuesIn(live_tensor_types), testing::ValuesIn(cpu_targets()));
}

/// Each target with the types that satisfy `has`.
template <class Has>
[[nodiscard]] auto each_target_and_type_that(const Has& has) {
  std::vector<TensorTypeInfo> types;
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (has(info)) types.push_back(info);
  }
  return testing::Combine(testing::ValuesIn(types), testing::ValuesIn(cpu_targets()));
}

[[nodiscard]] inline std::string case_name(const testing::TestParamInfo<TypeAndTarget>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + target_name(std::get<1>(info.param));
}

/// Same bits, except that any NaN equals any other.
[[nodiscard]] inline testing::AssertionResult same_floats(std::span<const float> expected,
                                                          std::span<const float> actual) {
  if (expected.size() != actual.size()) return testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto expected_bits = std::bit_cast<std::uint32_t>(expected[i]);
    const auto actual_bits = std::bit_cast<std::uint32_t>(actual[i]);
    if (expected_bits == actual_bits) continue;
    if (expected[i] != expected[i] && actual[i] != actual[i]) continue;
    return testing::AssertionFailure()
           << "element " << i << " is " << actual[i] << " (0x" << std::hex << actual_bits
           << "), not " << expected[i] << " (0x" << expected_bits << ")";
  }
  return testing::AssertionSuccess();
}

/// Same bytes; says which byte of which block differs.
[[nodiscard]] inline testing::AssertionResult same_blocks(std::span<const std::byte> expected,
                                                          std::span<const std::byte> actual,
                                                          std::size_t block_bytes) {
  if (expected.size() != actual.size()) return testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i]) continue;
    return testing::AssertionFailure()
           << "byte " << i % block_bytes << " of block " << i / block_bytes << " is "
           << std::to_integer<int>(actual[i]) << ", not " << std::to_integer<int>(expected[i]);
  }
  return testing::AssertionSuccess();
}

}  // namespace ingot::test
