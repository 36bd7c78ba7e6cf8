// SPDX-License-Identifier: MIT
// Sources: the same bytes, whichever way they come; and what is no file does not become one.

#include "ingot/source.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using OpenSource = std::function<Result<std::unique_ptr<Source>>(const std::string&)>;

/// A way to get at the bytes of a file.
struct Way {
  const char* name;
  OpenSource open;
  bool is_in_memory;
};

Result<std::unique_ptr<Source>> open_in_memory(const std::string& path) {
  static Bytes bytes;  // outlives the source, as is the caller's duty
  bytes = read_whole(path);
  return borrow_memory(bytes);
}

Result<std::unique_ptr<Source>> open_by_callback(const std::string& path) {
  const auto bytes = std::make_shared<Bytes>(read_whole(path));
  return read_through(bytes->size(), [bytes](std::uint64_t at, std::span<std::byte> destination) {
    std::memcpy(destination.data(), bytes->data() + at, destination.size());
    return true;
  });
}

class EverySource : public testing::TestWithParam<Way> {
 protected:
  TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(, EverySource,
                         testing::Values(Way{"map", map_file, true}, Way{"read", read_file, false},
                                         Way{"memory", open_in_memory, true},
                                         Way{"callback", open_by_callback, false}),
                         [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(EverySource, GivesTheBytesOfTheFile) {
  const Bytes content = GgufBuilder().data(100'000).bytes();
  const auto source = GetParam().open(folder_.write("file", content));
  ASSERT_THAT(source, Succeeds());
  EXPECT_EQ((*source)->size_bytes(), content.size());
  EXPECT_EQ((*source)->bytes().size(), GetParam().is_in_memory ? content.size() : 0);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{70'001}}) {
    Bytes part(content.size() - offset);
    ASSERT_THAT((*source)->read(offset, part), Succeeds());
    EXPECT_TRUE(std::equal(part.begin(), part.end(),
                           content.begin() + static_cast<std::ptrdiff_t>(offset)));
  }
}

TEST_P(EverySource, ReadsNothingBeyondTheEnd) {
  const auto source = GetParam().open(folder_.write("file", Bytes(10)));
  ASSERT_THAT(source, Succeeds());
  std::array<std::byte, 11> destination;
  const auto read = [&](std::uint64_t offset, std::size_t size) {
    return (*source)->read(offset, std::span(destination).first(size));
  };
  EXPECT_THAT(read(0, 10), Succeeds());
  EXPECT_THAT(read(10, 0), Succeeds());
  EXPECT_THAT(read(0, 11), FailsWith(Errc::truncated, 0, ""));
  EXPECT_THAT(read(10, 1), FailsWith(Errc::truncated, 10, ""));
  EXPECT_THAT(read(11, 0), FailsWith(Errc::truncated, 11, ""));
  EXPECT_THAT(read(~std::uint64_t{0}, 2), FailsWith(Errc::truncated));
}

TEST_P(EverySource, AnEmptyFileIsEmpty) {
  const auto source = GetParam().open(folder_.write("file", {}));
  ASSERT_THAT(source, Succeeds());
  EXPECT_EQ((*source)->size_bytes(), 0u);
  EXPECT_TRUE((*source)->bytes().empty());
  EXPECT_THAT((*source)->read(0, {}), Succeeds());
}

TEST_P(EverySource, KeepsItsBytesWhenTheyArePrefetchedAndReleased) {
  const Bytes content = GgufBuilder().data(50'000).bytes();
  const auto source = GetParam().open(folder_.write("file", content));
  ASSERT_THAT(source, Succeeds());
  constexpr std::uint64_t far = ~std::uint64_t{0};
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4097}, far}) {
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, far}) {
      (*source)->prefetch(offset, size);
      (*source)->release(offset, size);
    }
  }
  Bytes read(content.size());
  ASSERT_THAT((*source)->read(0, read), Succeeds());
  EXPECT_EQ(read, content);
}

TEST_P(EverySource, MayBeReadFromSeveralThreads) {
  const Bytes content = GgufBuilder().data(50'000).bytes();
  const auto source = GetParam().open(folder_.write("file", content));
  ASSERT_THAT(source, Succeeds());
  std::array<bool, 4> is_right{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < is_right.size(); ++t) {
    threads.emplace_back([&, t] {
      is_right[t] = true;
      for (std::size_t offset = t; offset + 100 < content.size(); offset += 97) {
        std::array<std::byte, 100> part;
        is_right[t] = is_right[t] && (*source)->read(offset, part).has_value() &&
                      std::equal(part.begin(), part.end(), content.data() + offset);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(is_right, testing::Each(true));
}

/// The two that open files.
class FileSource : public EverySource {};
INSTANTIATE_TEST_SUITE_P(, FileSource,
                         testing::Values(Way{"map", map_file, true}, Way{"read", read_file, false}),
                         [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(FileSource, AMissingFileIsAnErrorOfTheSystem) {
  const auto source = GetParam().open(folder_.path("missing"));
  ASSERT_THAT(source, FailsWith(Errc::io_error));
  EXPECT_EQ(source.error().detail, "cannot open it: No such file or directory");
}

TEST_P(FileSource, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
  EXPECT_THAT(GetParam().open(folder_.path("")), FailsWith(Errc::not_a_regular_file));
  EXPECT_THAT(GetParam().open("/dev/null"), FailsWith(Errc::not_a_regular_file));
  EXPECT_THAT(GetParam().open("/dev/zero"), FailsWith(Errc::not_a_regular_file));
  const std::string fifo = folder_.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto source = GetParam().open(fifo);  // nobody ever writes to it
  ASSERT_THAT(source, FailsWith(Errc::not_a_regular_file));
  EXPECT_EQ(source.error().detail, "it is a FIFO");
}

TEST_P(FileSource, ASymbolicLinkIsFollowed) {
  folder_.write("file", Bytes(7));
  std::filesystem::create_symlink("file", folder_.path("link"));
  const auto source = GetParam().open(folder_.path("link"));
  ASSERT_THAT(source, Succeeds());
  EXPECT_EQ((*source)->size_bytes(), 7u);
}

TEST_P(FileSource, APathWithANulIsRefused) {
  folder_.write("file", Bytes(7));
  EXPECT_THAT(GetParam().open(folder_.path(std::string("file\0.gguf", 10))),
              FailsWith(Errc::invalid_argument));
}

TEST(ReadFile, AnErrorOfTheSystemHasItsNumber) {
  const test::TemporaryFolder folder;
  const auto missing = read_file(folder.path("none"));
  EXPECT_THAT(missing, FailsWith(Errc::io_error));
  EXPECT_EQ(missing.error().system_number, ENOENT);
}

TEST(ReadFile, AFileThatBecameShorterIsTruncated) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", Bytes(1000));
  const auto source = read_file(path);
  ASSERT_THAT(source, Succeeds());
  std::filesystem::resize_file(path, 500);
  std::array<std::byte, 100> part;
  EXPECT_THAT((*source)->read(300, part), Succeeds());
  EXPECT_THAT((*source)->read(450, part), FailsWith(Errc::truncated));
  EXPECT_EQ((*source)->size_bytes(), 1000u);
}

TEST(ReadThrough, AFunctionThatFailsIsAnErrorOfTheSystem) {
  const auto source = read_through(10, [](std::uint64_t, std::span<std::byte>) { return false; });
  std::byte byte;
  EXPECT_THAT(source->read(3, {&byte, 1}), FailsWith(Errc::io_error, 3, ""));
  EXPECT_THAT(source->read(3, {}), Succeeds());  // nothing to ask for
}

/// Bytes of this process that are in memory now.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(MappedFile, OneLargerThanAllAddressesOf32BitsIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file", Bytes(10, std::byte{7}));
  constexpr std::uint64_t size_bytes = (std::uint64_t{5} << 30) + 3;
  std::ofstream(path, std::ios::in | std::ios::out)
      .seekp(static_cast<std::streamoff>(size_bytes - 1))
      .put('\x09');
  const auto source = map_file(path);
  ASSERT_THAT(source, Succeeds());
  EXPECT_EQ((*source)->size_bytes(), size_bytes);
  EXPECT_EQ((*source)->bytes().empty(), sizeof(void*) == 4);
  std::array<std::byte, 2> ends{};
  ASSERT_THAT((*source)->read(0, std::span(ends).first(1)), Succeeds());
  ASSERT_THAT((*source)->read(size_bytes - 1, std::span(ends).last(1)), Succeeds());
  EXPECT_EQ(ends, (std::array{std::byte{7}, std::byte{9}}));
}

TEST(MappedFile, LargeReadsMapNoPages) {
  constexpr std::size_t size = std::size_t{64} << 20;
  TemporaryFolder folder;
  const auto source = map_file(folder.write("file", Bytes(size, std::byte{7})));
  ASSERT_THAT(source, Succeeds());
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  const std::uint64_t before = resident_bytes();
  for (std::size_t i = 0; i < size; i += buffer.size()) {
    ASSERT_THAT((*source)->read(i, buffer), Succeeds());
    EXPECT_EQ(buffer.back(), std::byte{7});
  }
  EXPECT_LT(resident_bytes(), before + size / 4);
  EXPECT_THAT((*source)->read(1, std::span(buffer)), Succeeds());
  EXPECT_THAT((*source)->read(size - buffer.size() + 1, buffer), FailsWith(Errc::truncated));
}

TEST(MappedFile, ReleasedBytesTakeUpNoMemory) {
  constexpr std::size_t size = std::size_t{64} << 20;
  constexpr std::uint64_t half = size / 2;
  TemporaryFolder folder;
  const auto source = map_file(folder.write("file", Bytes(size)));
  ASSERT_THAT(source, Succeeds());
  unsigned sum = 0;
  for (std::size_t i = 0; i < size; i += 4096) sum += static_cast<unsigned>((*source)->bytes()[i]);
  const std::uint64_t before = resident_bytes();
  (*source)->release(1, size);
  EXPECT_LT(resident_bytes() + half, before);
  EXPECT_EQ(sum, 0u);
}

}  // namespace
}  // namespace ingot::test
