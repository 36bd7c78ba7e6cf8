// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_header.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot::formats {
namespace {

using test::FailsWith;
using test::Succeeds;
using testing::ElementsAre;

Result<SafetensorsHeader> parse(std::string_view text, std::uint64_t data_bytes) {
  return parse_safetensors_header(text, data_bytes, 1000);
}

TEST(SafetensorsHeader, ReadsTensorsByOffsetAndMetadata) {
  const auto header = parse(R"({"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},)"
                            R"("__metadata__":{"format":"pt","k":"\u00e9"},)"
                            R"("a":{"shape":[1],"data_offsets":[0,4],"dtype":"F32"}}   )",
                            16);
  ASSERT_THAT(header, Succeeds());
  ASSERT_EQ(header->tensors.size(), 2u);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_EQ(header->tensors[0].dtype, "F32");
  EXPECT_EQ(header->tensors[1].name, "b");
  EXPECT_THAT(header->tensors[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(header->tensors[1].begin, 4u);
  EXPECT_EQ(header->tensors[1].end, 16u);
  EXPECT_THAT(header->metadata,
              ElementsAre(testing::Pair("format", "pt"), testing::Pair("k", "\xC3\xA9")));
}

TEST(SafetensorsHeader, ScalarsAndEmptyTensorsAreTensors) {
  const auto header = parse(R"({"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
                            R"("e":{"dtype":"F32","shape":[3,0],"data_offsets":[8,8]}})",
                            8);
  ASSERT_THAT(header, Succeeds());
  EXPECT_EQ(header->tensors.size(), 2u);
  EXPECT_THAT(parse("{}", 0), Succeeds());
}

struct Hostile {
  const char* what;
  const char* text;
  std::uint64_t data_bytes;
  Errc code;
};

class HostileHeader : public testing::TestWithParam<Hostile> {};

TEST_P(HostileHeader, IsRefused) {
  EXPECT_THAT(parse(GetParam().text, GetParam().data_bytes), FailsWith(GetParam().code));
}

constexpr auto header = Errc::safetensors_header;
constexpr auto layout = Errc::safetensors_layout;

INSTANTIATE_TEST_SUITE_P(
    Every, HostileHeader,
    testing::Values(
        Hostile{"Empty", "", 0, header}, Hostile{"BlankFirst", " {}", 0, header},
        Hostile{"NotAnObject", "[]", 0, header}, Hostile{"Number", "{\"a\":1}", 0, header},
        Hostile{"Text", R"({"a":"b"})", 0, header}, Hostile{"Null", R"({"a":null})", 0, header},
        Hostile{"Boolean", R"({"a":true})", 0, header},
        Hostile{"CutOff", R"({"a":{"dtype":"F32")", 0, header},
        Hostile{"TwoDocuments", "{}{}", 0, header},
        Hostile{"NotUtf8", "{\"\xFF\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
                header},
        Hostile{"UnknownDtype", R"({"a":{"dtype":"F7","shape":[],"data_offsets":[0,4]}})", 4,
                header},
        Hostile{"NoShape", R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, header},
        Hostile{"UnknownField", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1}})", 4,
                header},
        Hostile{"NegativeShape", R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
                header},
        Hostile{"FloatShape", R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4,
                header},
        Hostile{"HugeNumber",
                R"({"a":{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,4]}})", 4,
                header},
        Hostile{"OneOffset", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4]}})", 4, header},
        Hostile{"ThreeOffsets", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4,4]}})", 4,
                header},
        Hostile{"NestedMetadata", R"({"__metadata__":{"a":{"b":"c"}}})", 0, header},
        Hostile{"NumberInMetadata", R"({"__metadata__":{"a":1}})", 0, header},
        Hostile{"DeepNesting", R"({"a":[[[[[[[[[[]]]]]]]]]]})", 0, header},
        Hostile{"DuplicateField",
                R"({"a":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4,
                Errc::key_duplicate},
        Hostile{"DuplicateTensor",
                R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
                8, Errc::tensor_duplicate},
        Hostile{"DuplicateMetadata", R"({"__metadata__":{"a":"1","a":"2"}})", 0,
                Errc::key_duplicate},
        Hostile{"TwoMetadata", R"({"__metadata__":{},"__metadata__":{}})", 0, Errc::key_duplicate},
        Hostile{"Hole", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})", 8, layout},
        Hostile{"Overlap",
                R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"F32","shape":[],"data_offsets":[2,6]}})",
                6, layout},
        Hostile{"Backwards", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4,0]}})", 4, layout},
        Hostile{"TooFewBytes", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
                layout},
        Hostile{"HalfByte", R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,0]}})", 0, layout},
        Hostile{"Overflow",
                R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
                layout},
        Hostile{"OverflowHiddenByZero",
                R"({"a":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})",
                0, layout},
        Hostile{"DataLeftOver", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 5,
                layout},
        Hostile{"DataMissing", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 3,
                Errc::truncated}),
    [](const auto& hostile) { return std::string(hostile.param.what); });

TEST(SafetensorsHeader, CountsTensorsAgainstTheLimit) {
  const std::string text = R"({"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]},)"
                           R"("b":{"dtype":"I8","shape":[],"data_offsets":[1,2]}})";
  EXPECT_THAT(parse_safetensors_header(text, 2, 2), Succeeds());
  EXPECT_THAT(parse_safetensors_header(text, 2, 1), FailsWith(Errc::limit_exceeded));
}

}  // namespace
}  // namespace ingot::formats
