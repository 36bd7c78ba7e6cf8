// SPDX-License-Identifier: MIT
// A file appears complete or not at all, and nothing else is left behind.

#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/file_lock.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const Bytes old_content(5, std::byte{'o'});
const Bytes new_content(7, std::byte{'n'});

/// Writes `content` to a path and commits.
Result<void> write_file(const std::string& path, const Bytes& content, bool may_replace = false) {
  INGOT_TRY(io::AtomicFile file, io::AtomicFile::create(path, may_replace));
  INGOT_TRY_VOID(file.write(content));
  return file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

TEST(AtomicFile, AppearsWhenItIsCommittedAndNotBefore) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.gguf");
  auto file = io::AtomicFile::create(path, false);
  ASSERT_THAT(file, Succeeds());
  ASSERT_THAT(file->write(new_content), Succeeds());
  EXPECT_FALSE(fs::exists(path));
  ASSERT_THAT(file->commit(), Succeeds());
  EXPECT_EQ(read_whole(path), new_content);
  EXPECT_THAT(folder.names(), ElementsAre("model.gguf"));
}

TEST(AtomicFile, ThatIsNotCommittedLeavesNothing) {
  const TemporaryFolder folder;
  {
    auto file = io::AtomicFile::create(folder.path("model.gguf"), false);
    ASSERT_THAT(file, Succeeds());
    ASSERT_THAT(file->write(Bytes(1 << 20)), Succeeds());
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AtomicFile, KeepsTheOrderOfPiecesOfAnySize) {
  const TemporaryFolder folder;
  auto file = io::AtomicFile::create(folder.path("file"), false);
  ASSERT_THAT(file, Succeeds());
  Bytes expected;
  for (const std::size_t size : {1u, 65'535u, 65'536u, 3u, 200'000u, 0u, 17u}) {
    const Bytes piece(size, static_cast<std::byte>(size % 251));
    ASSERT_THAT(file->write(piece), Succeeds());
    ASSERT_THAT(file->write_zeros(size % 5000), Succeeds());
    expected.insert(expected.end(), piece.begin(), piece.end());
    expected.resize(expected.size() + size % 5000);
    EXPECT_EQ(file->size_bytes(), expected.size());
  }
  ASSERT_THAT(file->commit(), Succeeds());
  EXPECT_EQ(read_whole(folder.path("file")), expected);
}

TEST(AtomicFile, ReservedRoomThatIsNotUsedGoesBack) {
  const TemporaryFolder folder;
  auto file = io::AtomicFile::create(folder.path("file"), false);
  ASSERT_THAT(file, Succeeds());
  ASSERT_THAT(file->reserve(100'000), Succeeds());
  ASSERT_THAT(file->write(new_content), Succeeds());
  ASSERT_THAT(file->commit(), Succeeds());
  EXPECT_EQ(read_whole(folder.path("file")), new_content);
}

TEST(AtomicFile, ReplacesAFileOnlyOnRequest) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", old_content);
  EXPECT_THAT(write_file(path, new_content), FailsWith(Errc::already_exists));
  EXPECT_EQ(read_whole(path), old_content);
  EXPECT_THAT(write_file(path, new_content, true), Succeeds());
  EXPECT_EQ(read_whole(path), new_content);
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(AtomicFile, DoesNotReplaceWhatAppearedInTheMeantime) {
  const TemporaryFolder folder;
  auto file = io::AtomicFile::create(folder.path("file"), false);
  ASSERT_THAT(file, Succeeds());
  folder.write("file", old_content);
  ASSERT_THAT(file->write(new_content), Succeeds());
  EXPECT_THAT(file->commit(), FailsWith(Errc::already_exists));
  EXPECT_EQ(read_whole(folder.path("file")), old_content);
}

TEST(AtomicFile, AReplacedFileKeepsItsPermissions) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", old_content);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_THAT(write_file(path, new_content, true), Succeeds());
  EXPECT_EQ(mode_of(path), 0640u);
}

TEST(AtomicFile, AReplacedFileKeepsItsOwnerAndGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const TemporaryFolder folder;
  const std::string path = folder.write("file", old_content);
  ASSERT_EQ(::chown(path.c_str(), 1234, 2345), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0660), 0);
  ASSERT_THAT(write_file(path, new_content, true), Succeeds());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 2345u);
  EXPECT_EQ(mode_of(path), 0660u);
}

TEST(AtomicFile, RemovesWhatAKilledProcessLeftOfItAndNothingElse) {
  const TemporaryFolder folder;
  const std::string left_over = ".file.0123456789abcdef.tmp";
  const std::string in_use = ".file.fedcba9876543210.tmp";
  const std::vector<std::string> others = {".file.0123456789abcdeX.tmp", ".file.0123.tmp",
                                           ".other.0123456789abcdef.tmp",
                                           "file.0123456789abcdef.tmp"};
  for (const std::string& name : others) folder.write(name, old_content);
  folder.write(left_over, old_content);
  const auto running = io::open_locked(folder.write(in_use, old_content),
                                       system::Access::read_write, {.on_wait = {}});
  ASSERT_THAT(running, Succeeds());
  ASSERT_THAT(write_file(folder.path("file"), new_content), Succeeds());
  std::vector<std::string> expected = others;
  expected.insert(expected.end(), {"file", in_use});
  EXPECT_THAT(folder.names(), testing::UnorderedElementsAreArray(expected));
}

TEST(AtomicFile, TheFileThatItReplacesIsLockedUntilItIs) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", old_content);
  const LockWait usual = lock_wait();
  const LockWait no_wait{.limit = std::chrono::milliseconds(0), .on_wait = {}};
  set_lock_wait(no_wait);
  {
    const auto editor = io::open_locked(path, system::Access::read_write, no_wait);
    EXPECT_THAT(io::AtomicFile::create(path, true), FailsWith(Errc::file_in_use));
    EXPECT_THAT(io::AtomicFile::create(path, true, io::ReplacedLock::is_held), Succeeds());
  }
  auto file = io::AtomicFile::create(path, true);
  ASSERT_THAT(file, Succeeds());
  EXPECT_THAT(io::open_locked(path, system::Access::read_write, no_wait),
              FailsWith(Errc::file_in_use));
  // A file that has taken the name meanwhile is locked, too.
  fs::rename(folder.write("newer", old_content), path);
  {
    const auto editor = io::open_locked(path, system::Access::read_write, no_wait);
    ASSERT_THAT(editor, Succeeds());
    EXPECT_THAT(file->commit(), FailsWith(Errc::file_in_use));
  }
  EXPECT_EQ(read_whole(path), old_content);
  ASSERT_THAT(file->commit(), Succeeds());
  EXPECT_THAT(io::open_locked(path, system::Access::read_write, no_wait), Succeeds());
  set_lock_wait(usual);
}

TEST(AtomicFile, ANewFileObeysTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  const Result<void> written = write_file(folder.path("file"), new_content);
  ::umask(before);
  ASSERT_THAT(written, Succeeds());
  EXPECT_EQ(mode_of(folder.path("file")), 0640u);
}

TEST(AtomicFile, ThroughASymbolicLinkTheTargetIsReplaced) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", old_content);
  fs::create_directory(folder.path("elsewhere"));
  fs::create_symlink("../target", folder.path("elsewhere/link"));
  ASSERT_THAT(write_file(folder.path("elsewhere/link"), new_content, true), Succeeds());
  EXPECT_TRUE(fs::is_symlink(folder.path("elsewhere/link")));
  EXPECT_EQ(read_whole(target), new_content);
}

TEST(AtomicFile, NeedsAFolderThatIsThereAndATargetThatIsAFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(write_file(folder.path("missing/file"), new_content), FailsWith(Errc::io_error));
  EXPECT_THAT(write_file(folder.path(""), new_content, true), FailsWith(Errc::not_a_regular_file));
  EXPECT_THAT(write_file("/dev/null", new_content, true), FailsWith(Errc::not_a_regular_file));
  EXPECT_THAT(write_file("", new_content), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(write_file(std::string("a\0b", 3), new_content), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(AtomicFile, ANameOfTheMaximumLengthWorks) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  ASSERT_THAT(write_file(folder.path(name), old_content), Succeeds());
  ASSERT_THAT(write_file(folder.path(name), new_content, true), Succeeds());
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

/// Lets files of this process grow to `max_bytes` only, as if the disk were full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t max_bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{max_bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AtomicFile, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", old_content);
  {
    const FullDisk full_disk(100'000);
    EXPECT_THAT(write_file(path, Bytes(200'000), true), FailsWith(Errc::io_error));
    // The error also appears if only the flush of gathered pieces finds it.
    auto file = io::AtomicFile::create(path, true);
    ASSERT_THAT(file, Succeeds());
    ASSERT_THAT(file->write(Bytes(65'536)), Succeeds());
    ASSERT_THAT(file->write(Bytes(60'000)), Succeeds());
    EXPECT_THAT(file->commit(), FailsWith(Errc::io_error));
  }
  EXPECT_EQ(read_whole(path), old_content);
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(AtomicFile, RoomThatIsNotThereIsNoticedBeforeTheWork) {
  const TemporaryFolder folder;
  auto file = io::AtomicFile::create(folder.path("file"), false);
  ASSERT_THAT(file, Succeeds());
  EXPECT_THAT(file->reserve(std::uint64_t{1} << 55), FailsWith(Errc::io_error));
}

TEST(AtomicFile, CanBeMoved) {
  const TemporaryFolder folder;
  auto file = io::AtomicFile::create(folder.path("file"), false);
  ASSERT_THAT(file, Succeeds());
  ASSERT_THAT(file->write(new_content), Succeeds());
  io::AtomicFile moved = *std::move(file);
  ASSERT_THAT(moved.commit(), Succeeds());
  EXPECT_EQ(read_whole(folder.path("file")), new_content);
}

}  // namespace
}  // namespace ingot::test
