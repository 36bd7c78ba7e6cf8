// SPDX-License-Identifier: MIT
#include "format/name_index.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/random.hpp"

namespace ingot::test {
namespace {

/// A table of names, indexed.
class Names {
 public:
  explicit Names(std::size_t count) { index_.reserve(count); }

  std::optional<std::uint32_t> insert(std::string name) {
    names_.push_back(std::move(name));
    const auto position = static_cast<std::uint32_t>(names_.size() - 1);
    return index_.insert(position, [this](std::uint32_t at) { return name_at(at); });
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
    return index_.find(name, [this](std::uint32_t at) { return name_at(at); });
  }

 private:
  [[nodiscard]] std::string_view name_at(std::uint32_t at) const { return names_[at]; }

  std::vector<std::string> names_;
  format::NameIndex index_;
};

TEST(NameIndex, WithoutNamesFindsNothing) {
  EXPECT_EQ(Names(0).find(""), std::nullopt);
  const format::NameIndex not_even_reserved;
  EXPECT_EQ(not_even_reserved.find("x", [](std::uint32_t) { return std::string_view(); }),
            std::nullopt);
}

TEST(NameIndex, FindsWhatWasInsertedAndNothingElse) {
  Random random;
  for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 100u, 4096u, 5000u}) {
    Names names(count);
    const std::string prefix = std::to_string(random()) + ".";
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(names.insert(prefix + std::to_string(i)), std::nullopt);
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(names.find(prefix + std::to_string(i)), i);
    for (std::size_t i = count; i < 2 * count + 5; ++i) {
      ASSERT_EQ(names.find(prefix + std::to_string(i)), std::nullopt);
    }
  }
}

TEST(NameIndex, TellsWhereADuplicateIs) {
  Names names(4);
  EXPECT_EQ(names.insert("a"), std::nullopt);
  EXPECT_EQ(names.insert("b"), std::nullopt);
  EXPECT_EQ(names.insert(""), std::nullopt);
  EXPECT_EQ(names.insert("b"), 1u);
  EXPECT_EQ(names.find("b"), 1u);
  EXPECT_EQ(names.find(""), 2u);
}

TEST(NameIndex, ComparesAllBytes) {
  Names names(3);
  EXPECT_EQ(names.insert(std::string("a\0b", 3)), std::nullopt);
  EXPECT_EQ(names.insert("a"), std::nullopt);
  EXPECT_EQ(names.insert(std::string("a\0c", 3)), std::nullopt);
  EXPECT_EQ(names.find(std::string_view("a\0c", 3)), 2u);
  EXPECT_EQ(names.find("a"), 1u);
}

}  // namespace
}  // namespace ingot::test
