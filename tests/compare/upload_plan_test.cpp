// SPDX-License-Identifier: MIT
#include "ingot/upload_plan.hpp"

#include <gmock/gmock.h>

#include <string_view>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

std::unique_ptr<Source> list_of(std::string_view text) {
  return borrow_memory(std::as_bytes(std::span(text)));
}

const std::string digits = "4e3d0ef108eddb0c33e514a9f9eeed962d8dd30121005d303a63e0daa65a8f6e";

TEST(UploadPlan, ReadsListsOfChunks) {
  std::vector<XetChunk> chunks;
  const std::string text = "# chunks of Xet\n# file\n" + digits + " : 65616\n" + digits + " : 1";
  ASSERT_THAT(read_chunk_list(*list_of(text), [&](const XetChunk& c) { chunks.push_back(c); }),
              Succeeds());
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(name_of(chunks[0].hash), digits);
  EXPECT_EQ(chunks[0].size_bytes, 65616u);
  EXPECT_EQ(chunks[1].size_bytes, 1u);
}

TEST(UploadPlan, RefusesOtherLinesByTheirNumber) {
  for (const std::string& line : {digits, digits + " : 0", digits + " : 131073", digits + " : -1",
                                  digits + " : 12 ", digits + ": 12", digits.substr(1) + " : 12",
                                  std::string("zz"), std::string(), std::string(300'000, 'a')}) {
    const std::string text = "# chunks of Xet\n" + digits + " : 12\n" + line + "\n";
    const auto read = read_chunk_list(*list_of(text), [](const XetChunk&) {});
    ASSERT_FALSE(read) << line.substr(0, 99);
    EXPECT_EQ(read.error().code, Errc::manifest_invalid);
    EXPECT_EQ(read.error().line, 3u) << line.substr(0, 99);
  }
  EXPECT_FALSE(read_chunk_list(*list_of(digits + " : 12\n"), [](const XetChunk&) {}));
}

TEST(UploadPlan, FillsXorbsUpToTheirLimits) {
  const TemporaryFolder folder;
  // Files of one chunk each, no two alike.
  for (unsigned i = 0; i < 8200; ++i) {
    folder.write(std::to_string(i), std::as_bytes(std::span(&i, 1)));
  }
  const auto plan = plan_upload({folder.path("")});
  ASSERT_THAT(plan, Succeeds());
  EXPECT_EQ(plan->total.new_bytes, 8200 * sizeof(unsigned));
  ASSERT_EQ(plan->xorbs.size(), 2u);
  EXPECT_EQ(plan->xorbs[0].chunk_count, 8192u);
  EXPECT_EQ(plan->xorbs[1].chunk_count, 8u);
}

TEST(UploadPlan, EndsWhereItIsStopped) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a", std::as_bytes(std::span(digits)));
  const std::string heading = std::string(chunk_list_heading) + "\n";
  const std::string list = folder.write("list", std::as_bytes(std::span(heading)));
  const auto stop = [](std::uint64_t) { return false; };
  EXPECT_THAT(plan_upload({file}, {.against = {}, .progress = stop}), FailsWith(Errc::interrupted));
  EXPECT_THAT(plan_upload({}, {.against = {list}, .progress = stop}), FailsWith(Errc::interrupted));
}

}  // namespace
}  // namespace ingot::test
