// SPDX-License-Identifier: MIT
// Removing what was read, and nothing else.
#include "io/file_stamp.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "io/file_lock.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

TEST(FileStamp, ExactlyTheFileThatWasReadIsRemoved) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", Bytes(10));
  const auto read = io::open_locked(path, system::Access::read, {});
  ASSERT_THAT(read, Succeeds());
  const auto stamp = io::settled_stamp(read->get());
  ASSERT_TRUE(stamp.has_value());
  // Who has it locked says so.
  EXPECT_THAT(io::remove_exactly(path, *stamp), FailsWith(Errc::file_in_use));
  EXPECT_THAT(io::remove_exactly(path, *stamp, read->get()), Succeeds());
  EXPECT_FALSE(fs::exists(path));
}

TEST(FileStamp, AFileThatWasTouchedInAnyWayStays) {
  const std::vector<std::function<void(const std::string&)>> changes = {
      [](const std::string& path) { std::ofstream(path) << "0123456789"; },
      [](const std::string& path) { std::ofstream(path, std::ios::app) << "x"; },
      [](const std::string& path) { ::chmod(path.c_str(), 0600); },
      [](const std::string& path) {
        fs::copy_file(path, path + "2");
        fs::rename(path + "2", path);
      },
      [](const std::string& path) { fs::create_hard_link(path, path + "2"); },
      [](const std::string& path) {
        fs::rename(path, path + "2");
        fs::rename(path + "2", path);
      },
  };
  for (const auto& change : changes) {
    const TemporaryFolder folder;
    const std::string path = folder.write("file", Bytes(10, std::byte{'a'}));
    const auto read = io::open_regular(path);
    ASSERT_THAT(read, Succeeds());
    const auto stamp = io::settled_stamp(read->descriptor.get());
    ASSERT_TRUE(stamp.has_value());
    change(path);
    EXPECT_THAT(io::remove_exactly(path, *stamp), FailsWith(Errc::file_changed));
    EXPECT_TRUE(fs::exists(path));
  }
}

}  // namespace
}  // namespace ingot::test
