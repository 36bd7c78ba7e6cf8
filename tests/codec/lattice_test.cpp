// SPDX-License-Identifier: MIT
#include "codec/lattice/lattice.hpp"

#include <gtest/gtest.h>

#include "support/sha256.hpp"

namespace ingot::test {
namespace {

// Digests of the reference implementation's tables: entry by entry, one byte per element.
TEST(Lattice, GridsAreThoseOfTheReference) {
  const auto digest = [](const auto& grid) { return sha256_of(std::as_bytes(std::span(grid))); };
  if constexpr (std::endian::native == std::endian::little) {
    EXPECT_EQ(digest(codec::iq2_xxs_grid),
              "05826b5d3e472a3a78f196be62ac78acf81df0f909626e12ab9fa2a5d490dd54");
    EXPECT_EQ(digest(codec::iq2_xs_grid),
              "06e47aaca60b4dc1d9b5a3f34540437058a6b142b4d7a59d5ded769b4d1bf1de");
    EXPECT_EQ(digest(codec::iq2_s_grid),
              "e1aa1473412b0552c2174c30ef22ab4073f6a181b85a17056e8249bd2932fd88");
    EXPECT_EQ(digest(codec::iq3_xxs_grid),
              "46e35f5a997efdee6c99ce57854c8a0d4f0ff8ca57e5e8a60c0793ea580acf5d");
    EXPECT_EQ(digest(codec::iq3_s_grid),
              "bd1af4945a1717c65610b0284e4628b9a1ba3b306fae3a06f6e5f597356e349f");
    EXPECT_EQ(digest(codec::iq1_grid),
              "07540ffc1aeaf6ad4d97e96b0fcc765aae39671d4ae4a27bbd0e796fde167c6a");
  }
}

}  // namespace
}  // namespace ingot::test
