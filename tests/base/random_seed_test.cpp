// SPDX-License-Identifier: MIT
#include "base/random_seed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ingot::test {
namespace {

using Halves = std::array<std::uint64_t, 2>;

Halves process_halves() { return {process_key().k0, process_key().k1}; }

TEST(ProcessKey, IsTheSameInEveryThread) {
  std::array<Halves, 8> keys{};
  {
    std::vector<std::jthread> threads;
    for (Halves& key : keys) threads.emplace_back([&key] { key = process_halves(); });
  }
  EXPECT_EQ(std::set<Halves>(keys.begin(), keys.end()).size(), 1u);
  EXPECT_EQ(keys[0], process_halves());
}

TEST(ProcessKey, HasTwoHalvesThatDiffer) {
  EXPECT_NE(process_key().k0, 0u);
  EXPECT_NE(process_key().k1, 0u);
  EXPECT_NE(process_key().k0, process_key().k1);
}

// In the style "threadsafe" a death test runs in a process that was started anew.
TEST(ProcessKeyDeathTest, DiffersFromProcessToProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto print_key = [] {
    std::fprintf(stderr, "key %s,%s;", std::to_string(process_key().k0).c_str(),
                 std::to_string(process_key().k1).c_str());
    std::exit(0);
  };
  const std::string k0 = std::to_string(process_key().k0);
  const std::string k1 = std::to_string(process_key().k1);
  EXPECT_EXIT(print_key(), testing::ExitedWithCode(0),
              testing::AllOf(testing::HasSubstr("key "), testing::Not(testing::HasSubstr(k0)),
                             testing::Not(testing::HasSubstr(k1))));
}

}  // namespace
}  // namespace ingot::test
