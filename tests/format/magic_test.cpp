// SPDX-License-Identifier: MIT
#include "format/magic.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

Result<format::Magic> magic_of(std::string_view magic, Format version) {
  const Bytes bytes = GgufBuilder(version, magic).bytes();
  format::Cursor cursor(bytes, bytes.size());
  return format::read_magic(cursor);
}

TEST(Magic, KnowsTheVersionsThatExist) {
  for (const std::uint32_t version : {1u, 2u, 3u}) {
    const auto magic = magic_of("GGUF", {version, Endian::little});
    ASSERT_THAT(magic, Succeeds());
    EXPECT_EQ(magic->version, version);
    EXPECT_EQ(magic->byte_order, Endian::little);
    EXPECT_FALSE(magic->is_old);
  }
  const auto big = magic_of("GGUF", v3_big);
  ASSERT_THAT(big, Succeeds());
  EXPECT_EQ(big->version, 3u);
  EXPECT_EQ(big->byte_order, Endian::big);
}

TEST(Magic, TheOldOneMeansBigEndianVersion3) {
  const auto old = magic_of("FUGG", v3_big);
  ASSERT_THAT(old, Succeeds());
  EXPECT_TRUE(old->is_old);
  EXPECT_EQ(old->byte_order, Endian::big);
  EXPECT_THAT(magic_of("FUGG", v3), FailsWith(Errc::unsupported_version, 4, "version"));
  EXPECT_THAT(magic_of("FUGG", {2, Endian::big}),
              FailsWith(Errc::unsupported_version, 4, "version"));
}

TEST(Magic, RefusesVersionsThatNeverWere) {
  for (const std::uint32_t version : {0u, 4u, 0x10003u, 0xFFFFFFFFu}) {
    EXPECT_THAT(magic_of("GGUF", {version, Endian::little}),
                FailsWith(Errc::unsupported_version, 4, "version"))
        << version;
  }
  for (const std::uint32_t version : {1u, 2u, 4u}) {
    const auto magic = magic_of("GGUF", {version, Endian::big});
    ASSERT_THAT(magic, FailsWith(Errc::unsupported_version, 4, "version")) << version;
    EXPECT_EQ(magic.error().detail, "found " + std::to_string(version) + " in big-endian order");
  }
}

TEST(Magic, IsComparedByteByByte) {
  for (const char* magic : {"gguf", "GGUf", "GGML", "FUGg", "UGGF"}) {
    EXPECT_THAT(magic_of(magic, v3), FailsWith(Errc::not_gguf, 0, "magic")) << magic;
  }
}

TEST(Magic, SaysWhatTheFileSeemsToBe) {
  using testing::HasSubstr;
  const auto message_of = [](std::string_view begin) {
    const auto magic = magic_of(begin, v3);
    return magic ? "no error" : magic.error().message();
  };
  EXPECT_THAT(message_of("<!DOCTYPE html>"), HasSubstr("\"<!DO\", this looks like an HTML page"));
  EXPECT_THAT(message_of("version https://git-lfs"), HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(message_of("PK\x03\x04"), HasSubstr("\"PK\\x03\\x04\", this looks like a zip"));
  EXPECT_THAT(message_of("\x1b]8;"), HasSubstr("found \"\\x1b]8;\""));
}

TEST(Magic, ThatIsCutShortIsTruncated) {
  const Bytes bytes = GgufBuilder().bytes();
  for (std::size_t size = 0; size < 8; ++size) {
    const std::span<const std::byte> prefix = std::span(bytes).first(size);
    format::Cursor cursor(prefix, size);
    EXPECT_THAT(format::read_magic(cursor), size < 4 ? FailsWith(Errc::truncated, 0, "magic")
                                                     : FailsWith(Errc::truncated, 4, "version"))
        << size;
  }
}

}  // namespace
}  // namespace ingot::test
