// SPDX-License-Identifier: MIT
#include "base/large_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ingot {
namespace {

TEST(LargeVector, HasWholeLargePagesForLargeTables) {
  if (!system::has_large_pages) GTEST_SKIP() << "this system has no large pages to ask for";
  const LargeVector<std::uint32_t> table(2 * large_page_bytes / sizeof(std::uint32_t), 7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % large_page_bytes, 0u);
  EXPECT_EQ(table.back(), 7u);
}

}  // namespace
}  // namespace ingot
