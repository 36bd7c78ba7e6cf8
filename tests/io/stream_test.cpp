// SPDX-License-Identifier: MIT
#include "io/stream.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/pipe_writer.hpp"

namespace ingot::test {
namespace {

TEST(Stream, IsAnythingButADirectory) {
  const PipeWriter pipe(Bytes(1));
  EXPECT_TRUE(io::is_stream(pipe.read_end()));
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY);
  EXPECT_FALSE(io::is_stream(folder));
  ::close(folder);
  EXPECT_FALSE(io::is_stream(-1));
}

TEST(Stream, ReadsUntilTheBufferIsFullOrTheStreamEnds) {
  const Bytes content = GgufBuilder().data(300'000).bytes();
  const PipeWriter pipe(content, 7'001);
  Bytes first(100'000);
  EXPECT_EQ(io::read_stream(pipe.read_end(), first), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), content.begin()));
  Bytes rest(1'000'000);
  const auto read = io::read_stream(pipe.read_end(), rest);
  ASSERT_EQ(read, content.size() - first.size());
  EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(*read),
                         content.begin() + 100'000));
  EXPECT_EQ(io::read_stream(pipe.read_end(), rest), 0u);
}

TEST(Stream, IsDrainedToItsEndAndCounted) {
  const PipeWriter pipe(Bytes(2'500'000), 100'000);
  std::array<std::byte, 10> first;
  ASSERT_EQ(io::read_stream(pipe.read_end(), first), 10u);
  EXPECT_EQ(io::drain_stream(pipe.read_end()), 2'499'990u);
  EXPECT_EQ(io::drain_stream(pipe.read_end()), 0u);
}

TEST(Stream, WaitsAlsoIfSomebodyMadeThePipeNonBlocking) {
  const PipeWriter pipe(Bytes(1000), 100, std::chrono::milliseconds(2));
  ASSERT_EQ(::fcntl(pipe.read_end(), F_SETFL, O_NONBLOCK), 0);
  Bytes content(2000);
  EXPECT_EQ(io::read_stream(pipe.read_end(), content), 1000u);
}

TEST(Stream, AClosedDescriptorIsAnError) {
  std::byte byte;
  EXPECT_THAT(io::read_stream(-1, {&byte, 1}), FailsWith(Errc::io_error));
}

}  // namespace
}  // namespace ingot::test
