// SPDX-License-Identifier: MIT
// Every byte explained. That nothing is left out or told twice is checked of many files elsewhere;
// here is what is told.

#include "ingot/anatomy.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

/// One line for each field: offset, size, section, subject, name, meaning.
std::string explain(const Bytes& bytes, bool is_lenient = false) {
  const auto model = Model::open_memory(bytes, {.is_lenient = is_lenient});
  if (!model) return model.error().message();
  std::ostringstream text;
  visit_fields(*model, 0, [&](const Field& field) {
    text << field.file_offset << " +" << field.size_bytes << " " << name_of(field.section) << " ["
         << field.subject << "] " << field.name << ": " << field.meaning << "\n";
    return true;
  });
  return text.str();
}

TEST(Anatomy, ExplainsEveryFieldOfAFile) {
  const Bytes bytes = GgufBuilder()
                          .pair("k", std::uint16_t{7})
                          .pair("s", "a\nb")
                          .tensor("w", {2, 3}, TensorType::f16, 0)
                          .pad_to(32)
                          .data(12)
                          .bytes();
  EXPECT_EQ(explain(bytes),
            "0 +4 header [] magic: \"GGUF\"\n"
            "4 +4 header [] version: 3, little-endian\n"
            "8 +8 header [] tensor count: 1\n"
            "16 +8 header [] key count: 2\n"
            "24 +8 metadata [k] key length: 1\n"
            "32 +1 metadata [k] key: \"k\"\n"
            "33 +4 metadata [k] value type: 2 uint16\n"
            "37 +2 metadata [k] value: 7\n"
            "39 +8 metadata [s] key length: 1\n"
            "47 +1 metadata [s] key: \"s\"\n"
            "48 +4 metadata [s] value type: 8 string\n"
            "52 +8 metadata [s] string length: 3\n"
            "60 +3 metadata [s] string: \"a\\nb\"\n"
            "63 +8 tensors [w] name length: 1\n"
            "71 +1 tensors [w] name: \"w\"\n"
            "72 +4 tensors [w] dimension count: 2\n"
            "76 +8 tensors [w] dimension 0: 2\n"
            "84 +8 tensors [w] dimension 1: 3\n"
            "92 +4 tensors [w] tensor type: 1 F16\n"
            "96 +8 tensors [w] data offset: 0 into the data\n"
            "104 +24 tensors [] padding: up to the alignment of 32\n"
            "128 +12 data [w] tensor: F16 2 x 3\n");
}

TEST(Anatomy, ExplainsArrays) {
  GgufBuilder file(v1);
  file.array_pair<std::string_view>("t", {"x", ""});
  file.array_key("n", ValueType::array, 2);
  file.array(ValueType::int8, 2).u8(0xFF).u8(1).array(ValueType::boolean, 1).u8(1);
  EXPECT_EQ(explain(file.bytes()),
            "0 +4 header [] magic: \"GGUF\"\n"
            "4 +4 header [] version: 1, little-endian\n"
            "8 +4 header [] tensor count: 0\n"
            "12 +4 header [] key count: 2\n"
            "16 +4 metadata [t] key length: 1\n"
            "20 +1 metadata [t] key: \"t\"\n"
            "21 +4 metadata [t] value type: 9 array\n"
            "25 +4 metadata [t] element type: 8 string\n"
            "29 +4 metadata [t] element count: 2\n"
            "33 +4 metadata [t] element 0 length: 1\n"
            "37 +1 metadata [t] element 0: \"x\"\n"
            "38 +4 metadata [t] element 1 length: 0\n"
            "42 +4 metadata [n] key length: 1\n"
            "46 +1 metadata [n] key: \"n\"\n"
            "47 +4 metadata [n] value type: 9 array\n"
            "51 +4 metadata [n] element type: 9 array\n"
            "55 +4 metadata [n] element count: 2\n"
            "59 +4 metadata [n] inner element type: 1 int8\n"
            "63 +4 metadata [n] inner element count: 2\n"
            "67 +1 metadata [n] element 0: -1\n"
            "68 +1 metadata [n] element 1: 1\n"
            "69 +4 metadata [n] inner element type: 7 bool\n"
            "73 +4 metadata [n] inner element count: 1\n"
            "77 +1 metadata [n] element 0: true\n");
}

TEST(Anatomy, ExplainsWhatLiesBetweenAndAfterTensors) {
  using testing::HasSubstr;
  const std::string text = explain(file_of_everything(v3_big));
  EXPECT_THAT(text, HasSubstr("4 +4 header [] version: 3, big-endian\n"));
  EXPECT_THAT(text, HasSubstr("+18 data [early] tensor: Q4_0 32\n"));
  EXPECT_THAT(text, HasSubstr("data [] gap: 30 bytes that belong to no tensor\n"));
  EXPECT_THAT(text, HasSubstr("data [] gap: 48 bytes that belong to no tensor\n"));
  EXPECT_THAT(text, HasSubstr("data [] padding: 8 bytes that belong to no tensor\n"));
  EXPECT_THAT(text, HasSubstr("+4 data [] "));
  EXPECT_EQ(text.find("[none] tensor:"), std::string::npos);

  EXPECT_THAT(explain(GgufBuilder().data(5).bytes()),
              HasSubstr("24 +5 data [] tail: bytes after the last tensor\n"));
}

TEST(Anatomy, ExplainsWhatOpensLeniently) {
  using testing::HasSubstr;
  GgufBuilder file;
  file.key("k", ValueType::boolean).u8(2);
  file.tensor("old", {7}, static_cast<TensorType>(4), 0);
  file.tensor("new", {7}, static_cast<TensorType>(99), 32).pad_to(32).data(40);
  const std::string text = explain(file.bytes(), true);
  EXPECT_THAT(text, HasSubstr("value: true, stored as 2\n"));
  EXPECT_THAT(text, HasSubstr("tensor type: 4 removed type Q4_2\n"));
  EXPECT_THAT(text, HasSubstr("tensor type: 99 unknown\n"));
  EXPECT_THAT(text, HasSubstr("+32 data [old] tensor: type 4 removed type Q4_2 7\n"));
  EXPECT_THAT(text, HasSubstr("+8 data [new] tensor: type 99 unknown 7\n"));
}

TEST(Anatomy, NamesTheOldMagic) {
  EXPECT_THAT(explain(GgufBuilder(v3_big, "FUGG").bytes()),
              testing::HasSubstr("magic: \"FUGG\", the old big-endian magic\n"));
}

TEST(Anatomy, ShortensTextAndEscapesIt) {
  const std::string text = explain(GgufBuilder().pair("k", std::string(500, 'x') + "\x1b").bytes());
  EXPECT_THAT(text, testing::HasSubstr("xxx...\"\n"));
  EXPECT_LT(text.size(), 600u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Anatomy, StopsWhenAskedTo) {
  const Bytes bytes = file_of_everything(v3);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::size_t all = 0;
  visit_fields(*model, 0, [&](const Field&) { return ++all != 0; });
  for (std::size_t wanted = 1; wanted <= all; ++wanted) {
    std::size_t seen = 0;
    visit_fields(*model, 0, [&](const Field&) { return ++seen != wanted; });
    ASSERT_EQ(seen, wanted);
  }
}

TEST(Anatomy, OfAFileThatIsNotThereIsEmpty) {
  const Bytes bytes = GgufBuilder().bytes();
  const auto model = Model::open_memory(bytes);
  visit_fields(*model, 1, [](const Field&) {
    ADD_FAILURE() << "there is no second file";
    return true;
  });
}

}  // namespace
}  // namespace ingot::test
