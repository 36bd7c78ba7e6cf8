// SPDX-License-Identifier: MIT
// Files under names that everybody can foresee: nothing is reached through a link.
#include "io/own_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_bytes = 100;

TEST(OwnFile, IsMadeFoundAndReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder.path("notes");
  EXPECT_EQ(io::read_own_file(path, max_bytes), "");
  ASSERT_THAT(io::replace_own_file(path, "first"), Succeeds());
  ASSERT_THAT(io::replace_own_file(path, "second"), Succeeds());
  EXPECT_EQ(io::read_own_file(path, max_bytes), "second");
  EXPECT_EQ(io::read_own_file(path, 5), "");
  EXPECT_THAT(folder.names(), testing::ElementsAre("notes"));
  auto opened = io::open_own_file(path);
  ASSERT_THAT(opened, Succeeds());
  EXPECT_FALSE(opened->is_new);
  EXPECT_TRUE(io::open_own_file(folder.path("part"))->is_new);
}

TEST(OwnFile, IsNoLinkAndNoFolder) {
  const std::function<void(const fs::path&, const fs::path&)> others[] = {
      [](const fs::path& victim, const fs::path& path) { fs::create_symlink(victim, path); },
      [](const fs::path& victim, const fs::path& path) { fs::create_hard_link(victim, path); },
      [](const fs::path&, const fs::path& path) { fs::create_symlink("nowhere", path); },
      [](const fs::path&, const fs::path& path) { fs::create_directory(path); },
      [](const fs::path&, const fs::path& path) { ::mkfifo(path.c_str(), 0600); }};
  for (const auto& make : others) {
    const TemporaryFolder folder;
    const Bytes precious(10, std::byte{'x'});
    const std::string victim = folder.write("victim", precious);
    const std::string path = folder.path("notes");
    make(victim, path);
    EXPECT_THAT(io::open_own_file(path), FailsWith(Errc::not_a_regular_file));
    EXPECT_THAT(io::read_own_file(path, max_bytes), FailsWith(Errc::not_a_regular_file));
    EXPECT_THAT(io::replace_own_file(path, "text"), FailsWith(Errc::not_a_regular_file));
    EXPECT_EQ(read_whole(victim), precious);
    EXPECT_EQ(folder.names().size(), 2u);
  }
}

}  // namespace
}  // namespace ingot::test
