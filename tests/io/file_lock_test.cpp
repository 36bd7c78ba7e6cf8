// SPDX-License-Identifier: MIT
// Locks: who waits, for how long, and which file is locked in the end.
#include "io/file_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const LockWait no_wait{.limit = std::chrono::milliseconds(0), .on_wait = {}};
const Bytes locked_content(100);

TEST(FileLock, TheSecondFailsAtOnceAndNamesTheHolder) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", locked_content);
  const auto first = io::open_locked(path, system::Access::read_write, no_wait);
  ASSERT_THAT(first, Succeeds());
  const auto second = io::open_locked(path, system::Access::read, no_wait);
  ASSERT_THAT(second, FailsWith(Errc::file_in_use));
  EXPECT_EQ(second.error().subject, path);
  if (::access("/proc/locks", R_OK) == 0) {
    EXPECT_THAT(second.error().detail, HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(FileLock, EndsWithItsDescriptor) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", locked_content);
  { ASSERT_THAT(io::open_locked(path, system::Access::read_write, no_wait), Succeeds()); }
  EXPECT_THAT(io::open_locked(path, system::Access::read_write, no_wait), Succeeds());
}

TEST(FileLock, TheWaitIsToldOnceAndEndsWhenTheHolderDoes) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", locked_content);
  auto first = io::open_locked(path, system::Access::read_write, no_wait);
  ASSERT_THAT(first, Succeeds());
  std::vector<Errc> told;
  std::thread holder([&first] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    first = io::FileDescriptor();
  });
  const auto second =
      io::open_locked(path, system::Access::read_write,
                      {.on_wait = [&](const Error& error) { told.push_back(error.code); }});
  holder.join();
  EXPECT_THAT(second, Succeeds());
  EXPECT_THAT(told, ElementsAre(Errc::file_in_use));
}

TEST(FileLock, TheLockedFileHasTheNameAlsoIfTheHolderReplacedIt) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", locked_content);
  auto first = io::open_locked(path, system::Access::read_write, no_wait);
  ASSERT_THAT(first, Succeeds());
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::filesystem::rename(folder.write("new", locked_content), path);
    first = io::FileDescriptor();
  });
  const auto second = io::open_locked(path, system::Access::read_write, {.on_wait = {}});
  holder.join();
  ASSERT_THAT(second, Succeeds());
  EXPECT_TRUE(io::is_named(second->get(), path));
}

TEST(FileLock, OfAFolderIsForOneAtATime) {
  const TemporaryFolder folder;
  const auto first = io::lock_directory(folder.path(""), no_wait);
  ASSERT_THAT(first, Succeeds());
  EXPECT_THAT(io::lock_directory(folder.path(""), no_wait), FailsWith(Errc::file_in_use));
  EXPECT_THAT(folder.names(), ElementsAre());
}

TEST(FileLock, NeedsAFileThatIsThereAndARegularOne) {
  const TemporaryFolder folder;
  EXPECT_THAT(io::open_locked(folder.path("none"), system::Access::read_write, no_wait),
              FailsWith(Errc::io_error));
  EXPECT_THAT(io::open_locked(folder.path(""), system::Access::read, no_wait),
              FailsWith(Errc::not_a_regular_file));
}

}  // namespace
}  // namespace ingot::test
