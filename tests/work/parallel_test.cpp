// SPDX-License-Identifier: MIT
#include "ingot/parallel.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

TEST(Spread, DoesEachItemOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    for (const std::uint64_t items : {0u, 1u, 9u, 10u, 11u, 1000u}) {
      std::vector<std::atomic<int>> visits(items);
      ASSERT_THAT(spread(items, 10, threads,
                         [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
                           EXPECT_LE(count, 10u);
                           for (std::uint64_t i = first; i < first + count; ++i) ++visits[i];
                           return {};
                         }),
                  Succeeds());
      for (const auto& visit : visits) ASSERT_EQ(visit.load(), 1);
    }
  }
}

TEST(Spread, WorksAtTheSameTime) {
  // Each of the two pieces waits for the other.
  std::atomic<int> arrived = 0;
  ASSERT_THAT(spread(2, 1, 2,
                     [&](std::uint64_t, std::uint64_t) -> Result<void> {
                       ++arrived;
                       while (arrived.load() < 2) std::this_thread::yield();
                       return {};
                     }),
              Succeeds());
}

TEST(Spread, ReturnsTheFirstError) {
  for (const unsigned threads : {1u, 4u}) {
    std::atomic<std::uint64_t> calls = 0;
    const auto result =
        spread(1000, 1, threads, [&](std::uint64_t first, std::uint64_t) -> Result<void> {
          ++calls;
          if (first >= 3) return fail(Errc::invalid_argument, std::to_string(first));
          return {};
        });
    ASSERT_THAT(result, FailsWith(Errc::invalid_argument));
    EXPECT_EQ(result.error().subject, "3");
    EXPECT_LT(calls.load(), 1000u);
  }
}

TEST(Spread, ThrowsWhatTheWorkThrows) {
  const auto work = [](std::uint64_t, std::uint64_t) -> Result<void> {
    throw std::runtime_error("from the work");
  };
  EXPECT_THROW(static_cast<void>(spread(8, 1, 4, work)), std::runtime_error);
}

TEST(Spread, NeedsAPieceSize) {
  EXPECT_THAT(spread(1, 0, 1, {}), FailsWith(Errc::invalid_argument));
}

TEST(Spread, CodecsGiveTheSameBytesWithAnyNumberOfThreads) {
  constexpr std::size_t row_elements = 4096;
  std::vector<float> floats(row_elements * 100);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(i % 1013) / 500.0f - 1.0f;
  }
  const std::size_t size_bytes = floats.size() / 32 * 18;
  std::vector<std::byte> expected(size_bytes);
  ASSERT_THAT(quantize(TensorType::q4_0, floats, row_elements, expected), Succeeds());
  std::vector<float> decoded(floats.size());
  ASSERT_THAT(dequantize(TensorType::q4_0, expected, decoded), Succeeds());
  for (const unsigned threads : {1u, 3u}) {
    std::vector<std::byte> blocks(size_bytes);
    ASSERT_THAT(quantize_spread(TensorType::q4_0, floats, row_elements, blocks, threads),
                Succeeds());
    EXPECT_TRUE(blocks == expected);
    std::vector<float> again(floats.size());
    ASSERT_THAT(dequantize_spread(TensorType::q4_0, blocks, again, threads), Succeeds());
    EXPECT_TRUE(again == decoded);
  }
}

TEST(Spread, CodecsRefuseWhatOneThreadRefuses) {
  std::vector<float> floats(33);
  std::vector<std::byte> blocks(18);
  EXPECT_THAT(dequantize_spread(TensorType::q4_0, blocks, floats, 2),
              FailsWith(Errc::size_mismatch));
  EXPECT_THAT(dequantize_spread(static_cast<TensorType>(4), blocks, floats, 2),
              FailsWith(Errc::unsupported_type));
  EXPECT_THAT(quantize_spread(TensorType::q4_0, floats, 11, blocks, 2),
              FailsWith(Errc::row_not_whole_blocks));
}

}  // namespace
}  // namespace ingot::test
