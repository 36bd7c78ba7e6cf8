// SPDX-License-Identifier: MIT
#include "base/siphash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ingot::test {
namespace {

/// The key of the published vectors: bytes 00 to 0f.
constexpr SipKey counting_key{0x0706050403020100, 0x0F0E0D0C0B0A0908};

/// The bytes 0, 1, 2, ...
std::string counting_bytes(std::size_t size_bytes) {
  std::string bytes;
  for (std::size_t i = 0; i < size_bytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

struct Vector {
  std::size_t size_bytes;
  std::uint64_t hash_2_4;
  std::uint64_t hash_1_3;
};

void PrintTo(const Vector& row, std::ostream* stream) { *stream << row.size_bytes << " bytes"; }

class SipHash : public testing::TestWithParam<Vector> {};

TEST_P(SipHash, EqualsThePublishedVectors) {
  EXPECT_EQ((siphash<2, 4>(counting_key, counting_bytes(GetParam().size_bytes))),
            GetParam().hash_2_4);
}

TEST_P(SipHash, OneThreeEqualsItsVectors) {
  EXPECT_EQ(siphash_1_3(counting_key, counting_bytes(GetParam().size_bytes)), GetParam().hash_1_3);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SipHash,
                         testing::Values(Vector{0, 0x726fdb47dd0e0e31, 0xabac0158050fc4dc},
                                         Vector{1, 0x74f839c593dc67fd, 0xc9f49bf37d57ca93},
                                         Vector{7, 0xab0200f58b01d137, 0xd3927d989bb11140},
                                         Vector{8, 0x93f5f5799a932462, 0x369095118d299a8e},
                                         Vector{9, 0x9e0082df0ba9e4b0, 0x25a48eb36c063de4},
                                         Vector{15, 0xa129ca6149be45e5, 0xd320d86d2a519956},
                                         Vector{16, 0x3f2acc7f57c29bdb, 0xcc4fdd1a7d908b66},
                                         Vector{63, 0x958a324ceb064572, 0x9d199062b7bbb3a8}),
                         [](const auto& row) { return std::to_string(row.param.size_bytes); });

TEST(SipHashOneThree, CountsTheSizeModulo256) {
  EXPECT_EQ(siphash_1_3(counting_key, counting_bytes(300)), 0x4016a23bda5a2224u);
}

// The hashes of Python 3.11 and later with PYTHONHASHSEED=0, which makes its key 0.
TEST(SipHashOneThree, EqualsPythonsStringHash) {
  EXPECT_EQ(siphash_1_3(SipKey{}, "blk.0.attn_q.weight"), 0x3c25d18d28a94307u);
}

TEST(SipHashOneThree, DependsOnBothHalvesOfTheKey) {
  const std::uint64_t hash = siphash_1_3({1, 2}, "name");
  EXPECT_NE(siphash_1_3({3, 2}, "name"), hash);
  EXPECT_NE(siphash_1_3({1, 3}, "name"), hash);
}

TEST(SipHashOneThree, TakesAnyAddress) {
  const std::string text = "-blk.0.attn_q.weight";
  EXPECT_EQ(siphash_1_3(SipKey{}, std::string_view(text).substr(1)), 0x3c25d18d28a94307u);
}

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
