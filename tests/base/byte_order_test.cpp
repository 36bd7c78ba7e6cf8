// SPDX-License-Identifier: MIT
#include "base/byte_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ingot::test {
namespace {

constexpr bool is_big_endian_host = std::endian::native == std::endian::big;

// An odd address further on, so that nothing may rely on alignment.
constexpr std::array stored_bytes = {std::byte{0xFF}, std::byte{0x01}, std::byte{0x02},
                                     std::byte{0x03}, std::byte{0x04}, std::byte{0x05},
                                     std::byte{0x06}, std::byte{0x07}, std::byte{0x88}};

static_assert(byteswap(std::uint8_t{0x12}) == 0x12);
static_assert(byteswap(std::uint16_t{0x1234}) == 0x3412);
static_assert(byteswap(std::uint32_t{0x12345678}) == 0x78563412);
static_assert(byteswap(std::uint64_t{0x123456789ABCDEF0}) == 0xF0DEBC9A78563412);

TEST(ByteOrder, LoadLittleReadsTheLowestByteFirst) {
  EXPECT_EQ(load_little<std::uint8_t>(&stored_bytes[1]), 0x01u);
  EXPECT_EQ(load_little<std::uint16_t>(&stored_bytes[1]), 0x0201u);
  EXPECT_EQ(load_little<std::uint32_t>(&stored_bytes[1]), 0x04030201u);
  EXPECT_EQ(load_little<std::uint64_t>(&stored_bytes[1]), 0x8807060504030201u);
}

TEST(ByteOrder, LoadSwapsOnRequest) {
  const bool swap_for_little = is_big_endian_host;
  EXPECT_EQ(load<std::uint32_t>(&stored_bytes[1], swap_for_little), 0x04030201u);
  EXPECT_EQ(load<std::uint32_t>(&stored_bytes[1], !swap_for_little), 0x01020304u);
  EXPECT_EQ(load<std::uint64_t>(&stored_bytes[1], !swap_for_little), 0x0102030405060788u);
}

TEST(ByteOrder, StoreWritesWhatLoadReads) {
  for (const bool is_swapped : {false, true}) {
    std::array<std::byte, 9> target{};
    store(&target[1], std::uint64_t{0x0123456789ABCDEF}, is_swapped);
    EXPECT_EQ(load<std::uint64_t>(&target[1], is_swapped), 0x0123456789ABCDEFu);
    EXPECT_EQ(target[1], is_swapped == is_big_endian_host ? std::byte{0xEF} : std::byte{0x01});
  }
}

TEST(ByteOrder, StoreTouchesOnlyItsBytes) {
  std::array<std::byte, 4> target{};
  store(&target[1], std::uint16_t{0xFFFF}, false);
  EXPECT_EQ(target, (std::array{std::byte{0}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0}}));
}

}  // namespace
}  // namespace ingot::test
