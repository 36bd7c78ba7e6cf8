// SPDX-License-Identifier: MIT
// Where a zip archive needs its 64-bit fields, and what they hold; the positions are those of
// APPNOTE.TXT of PKWARE, sections 4.3.7 to 4.3.16 and 4.5.3.
#include "formats/npz/zip_records.hpp"

#include <gtest/gtest.h>

namespace ingot::formats {
namespace {

constexpr std::uint64_t limit = 0xFFFFFFFF;  // stands for "see the 64-bit field"

std::uint64_t number_at(const ZipRecord& record, std::size_t position, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(record.bytes().at(position + i));
  }
  return number;
}

TEST(ZipRecords, SmallMembersHaveNo64BitFields) {
  const ZipMember member{"a.npy", limit - 1, limit - 1, 7};
  const ZipRecord local = zip_local_header(member);
  EXPECT_EQ(local.bytes().size(), 30u + 5);
  EXPECT_EQ(number_at(local, zip_crc_position, 4), 7u);
  EXPECT_EQ(number_at(local, 18, 4), limit - 1);
  EXPECT_EQ(number_at(local, 28, 2), 0u);
  const ZipRecord central = zip_central_header(member);
  EXPECT_EQ(central.bytes().size(), 46u + 5);
  EXPECT_EQ(number_at(central, 30, 2), 0u);
  EXPECT_EQ(number_at(central, 42, 4), limit - 1);
}

TEST(ZipRecords, LargeMembersHaveTheirSizeIn64Bits) {
  const ZipMember member{"a.npy", limit, 100, 7};
  const ZipRecord local = zip_local_header(member);
  ASSERT_EQ(local.bytes().size(), 30u + 5 + 20);
  for (const std::size_t position : {18u, 22u}) EXPECT_EQ(number_at(local, position, 4), limit);
  EXPECT_EQ(number_at(local, 28, 2), 20u);
  EXPECT_EQ(number_at(local, 35, 2), 1u);  // the field of zip64
  EXPECT_EQ(number_at(local, 37, 2), 16u);
  for (const std::size_t position : {39u, 47u}) EXPECT_EQ(number_at(local, position, 8), limit);
  const ZipRecord central = zip_central_header(member);
  ASSERT_EQ(central.bytes().size(), 46u + 5 + 20);
  for (const std::size_t position : {20u, 24u}) EXPECT_EQ(number_at(central, position, 4), limit);
  EXPECT_EQ(number_at(central, 42, 4), 100u);
  EXPECT_EQ(number_at(central, 53, 2), 16u);
  EXPECT_EQ(number_at(central, 55, 8), limit);
}

TEST(ZipRecords, FarMembersHaveTheirPlaceIn64Bits) {
  const std::uint64_t far = limit + 5;
  const ZipRecord near_size = zip_central_header({"a.npy", 9, far, 7});
  ASSERT_EQ(near_size.bytes().size(), 46u + 5 + 12);
  EXPECT_EQ(number_at(near_size, 24, 4), 9u);
  EXPECT_EQ(number_at(near_size, 42, 4), limit);
  EXPECT_EQ(number_at(near_size, 53, 2), 8u);
  EXPECT_EQ(number_at(near_size, 55, 8), far);
  // Sizes come before the place.
  const ZipRecord both = zip_central_header({"a.npy", far + 1, far, 7});
  ASSERT_EQ(both.bytes().size(), 46u + 5 + 28);
  EXPECT_EQ(number_at(both, 55, 8), far + 1);
  EXPECT_EQ(number_at(both, 71, 8), far);
}

TEST(ZipRecords, TheEndSaysWhereTheDirectoryIs) {
  const ZipRecord small = zip_end(3, 1000, 200);
  ASSERT_EQ(small.bytes().size(), 22u);
  EXPECT_EQ(number_at(small, 0, 4), 0x06054B50u);
  EXPECT_EQ(number_at(small, 10, 2), 3u);
  EXPECT_EQ(number_at(small, 12, 4), 200u);
  EXPECT_EQ(number_at(small, 16, 4), 1000u);
}

TEST(ZipRecords, TheEndHas64BitFieldsWhereANumberNeedsThem) {
  struct Case {
    std::uint64_t members, begin, size;
  };
  for (const Case& is : {Case{0xFFFF, 1000, 200}, Case{3, limit, 200}, Case{3, 1000, limit}}) {
    const ZipRecord end = zip_end(is.members, is.begin, is.size);
    ASSERT_EQ(end.bytes().size(), 56u + 20 + 22);
    EXPECT_EQ(number_at(end, 0, 4), 0x06064B50u);
    EXPECT_EQ(number_at(end, 4, 8), 44u);  // bytes that follow in this record
    for (const std::size_t position : {24u, 32u}) {
      EXPECT_EQ(number_at(end, position, 8), is.members);
    }
    EXPECT_EQ(number_at(end, 40, 8), is.size);
    EXPECT_EQ(number_at(end, 48, 8), is.begin);
    EXPECT_EQ(number_at(end, 56, 4), 0x07064B50u);
    EXPECT_EQ(number_at(end, 64, 8), is.begin + is.size);  // where the 64-bit record is
    EXPECT_EQ(number_at(end, 76, 4), 0x06054B50u);
    EXPECT_EQ(number_at(end, 86, 2), is.members);
    EXPECT_EQ(number_at(end, 88, 4), is.size);
    EXPECT_EQ(number_at(end, 92, 4), is.begin);
  }
}

}  // namespace
}  // namespace ingot::formats
