// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string>

#include "ingot/half.hpp"
#include "ingot/interop.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {

using std::string_literals::operator""s;

namespace {

/// A file of this header and data.
Bytes make_file(const std::string& header, const std::string& data) {
  Bytes file;
  std::uint64_t size = header.size();
  for (int i = 0; i < 8; ++i, size >>= 8) file.push_back(static_cast<std::byte>(size & 0xFF));
  for (const char character : header + data) file.push_back(static_cast<std::byte>(character));
  return file;
}

class SafetensorsReader : public testing::Test {
 protected:
  Result<OpenedModel> open(const std::string& name = "a.safetensors") const {
    return open_any(folder_.path(name));
  }
  void write(const std::string& name, const std::string& header, const std::string& data) const {
    folder_.write(name, make_file(header, data));
  }
  void write_text(const std::string& name, const std::string& text) const {
    folder_.write(name, std::as_bytes(std::span(text)));
  }
  TemporaryFolder folder_;
};

const std::string two_tensors =
    R"({"a":{"dtype":"I16","shape":[2,3],"data_offsets":[0,12]},)"
    R"("b":{"dtype":"F8_E4M3","shape":[5],"data_offsets":[12,17]},"__metadata__":{"format":"pt"}})";
const std::string two_datas = "abcdefghijkl\x38\xB8\x01\x7F\x00"s;

TEST_F(SafetensorsReader, ShapesAreReversedAndDataIsAsStored) {
  write("a.safetensors", two_tensors, two_datas);
  const auto opened = open();
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(opened->format, FileFormat::safetensors);
  const TensorInfo& a = *opened->model.find_tensor("a");
  EXPECT_EQ(a.type, TensorType::i16);
  EXPECT_THAT(a.shape, testing::ElementsAre(3, 2));
  std::string data(5, '\0');
  ASSERT_THAT(opened->model.read(a, 3, std::as_writable_bytes(std::span(data))), Succeeds());
  EXPECT_EQ(data, "defgh");
  EXPECT_EQ(opened->model.get<std::string_view>("safetensors.format"), "pt");
}

TEST_F(SafetensorsReader, PlacesAreThoseOfTheFile) {
  const std::string header = R"({"a":{"dtype":"I16","shape":[2,3],"data_offsets":[0,12]},)"
                             R"("e":{"dtype":"F32","shape":[0,3],"data_offsets":[12,12]},)"
                             R"("b":{"dtype":"F8_E4M3","shape":[5],"data_offsets":[12,17]},)"
                             R"("z":{"dtype":"F32","shape":[0],"data_offsets":[17,17]}})";
  write("a.safetensors", header, two_datas);
  const auto opened = open();
  ASSERT_THAT(opened, Succeeds());
  const std::uint64_t data = 8 + header.size();
  EXPECT_THAT(opened->data_offsets, testing::ElementsAre(data));
  const Model& model = opened->model;
  const auto place = [&](std::string_view name, std::uint64_t within = 0) {
    const TensorInfo& tensor = *model.find_tensor(name);
    const auto origin = model.origin(tensor.shard, model.file_offset(tensor) + within);
    return origin ? origin->file_offset - data : ~std::uint64_t{0};
  };
  EXPECT_EQ(place("a"), 0u);
  EXPECT_EQ(place("a", 11), 11u);
  EXPECT_EQ(place("e"), 12u);
  EXPECT_EQ(place("b"), 12u);
  EXPECT_EQ(place("b", 7), 15u);  // two bytes for each stored one
  EXPECT_EQ(place("z"), 17u);
  EXPECT_FALSE(model.origin(0, 10).has_value());
  EXPECT_FALSE(model.origin(0, model.files()[0].file_bytes + 1000).has_value());
}

TEST_F(SafetensorsReader, FloatsOfEightBitsAreDecodedWhereverReadingBegins) {
  write("a.safetensors", two_tensors, two_datas);
  const auto opened = open();
  ASSERT_THAT(opened, Succeeds());
  const TensorInfo& b = *opened->model.find_tensor("b");
  ASSERT_EQ(b.type, TensorType::bf16);
  ASSERT_EQ(b.size_bytes, 10u);
  std::array<float, 5> floats;
  ASSERT_THAT(opened->model.dequantize_rows(b, 0, 1, floats), Succeeds());
  EXPECT_EQ(floats[0], 1.0F);
  EXPECT_EQ(floats[1], -1.0F);
  EXPECT_EQ(floats[2], 1.0F / 512);
  EXPECT_TRUE(std::isnan(floats[3]));
  EXPECT_EQ(floats[4], 0.0F);
  Bytes all(10);
  ASSERT_THAT(opened->model.read(b, 0, all), Succeeds());
  for (std::size_t begin = 0; begin < 10; ++begin) {
    for (std::size_t end = begin; end <= 10; ++end) {
      Bytes part(end - begin);
      ASSERT_THAT(opened->model.read(b, begin, part), Succeeds());
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<long>(begin)));
    }
  }
}

TEST_F(SafetensorsReader, ElementTypesWithoutAnEqualAreRefusedByName) {
  for (const char* dtype : {"BOOL", "U8", "U16", "U32", "U64", "C64", "F4", "F6_E2M3"}) {
    const std::size_t bits = dtype == "U16"s                      ? 16
                             : dtype == "U32"s                    ? 32
                             : dtype == "U64"s || dtype == "C64"s ? 64
                             : dtype == "F4"s                     ? 4
                             : dtype == "F6_E2M3"s                ? 6
                                                                  : 8;
    write("a.safetensors",
          R"({"a":{"dtype":")"s + dtype + R"(","shape":[8],"data_offsets":[0,)" +
              std::to_string(bits) + "]}}",
          std::string(bits, 'x'));
    EXPECT_THAT(open(), FailsWith(Errc::element_type_unsupported, Error::no_offset, "a")) << dtype;
  }
}

TEST_F(SafetensorsReader, LongNamesAndManyDimensionsAreNoDefect) {
  const std::string name(65, 'n');
  write("a.safetensors",
        R"({")" + name + R"(":{"dtype":"I8","shape":[1,1,2,1,1],"data_offsets":[0,2]}})", "xy");
  const auto opened = open();
  ASSERT_THAT(opened, Succeeds());
  const TensorInfo* tensor = opened->model.find_tensor(name);
  ASSERT_NE(tensor, nullptr);
  EXPECT_THAT(tensor->shape, testing::ElementsAre(1, 1, 2, 1, 1));
  std::string data(2, '\0');
  ASSERT_THAT(opened->model.read(*tensor, 0, std::as_writable_bytes(std::span(data))), Succeeds());
  EXPECT_EQ(data, "xy");
}

TEST_F(SafetensorsReader, WhatNoReaderOfGgufTakesIsRefused) {
  write("a.safetensors", R"({"a":{"dtype":"I8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})",
        "x");
  EXPECT_THAT(open(), FailsWith(Errc::dimension_count_invalid, Error::no_offset, "a"));
}

TEST_F(SafetensorsReader, HeaderSizesAreChecked) {
  folder_.write("a.safetensors", Bytes(7));
  EXPECT_THAT(open(), FailsWith(Errc::truncated));
  Bytes file = make_file(two_tensors, two_datas);
  file[3] = std::byte{1};  // 16 MiB
  folder_.write("a.safetensors", file);
  EXPECT_THAT(open(), FailsWith(Errc::truncated));
  file[3] = std::byte{6};  // above 100,000,000
  folder_.write("a.safetensors", file);
  EXPECT_THAT(open(), FailsWith(Errc::safetensors_header));
}

TEST_F(SafetensorsReader, ContentDecidesWhatAFileIs) {
  write("model.bin", two_tensors, two_datas);
  EXPECT_THAT(open("model.bin"), Succeeds());
  EXPECT_EQ(detect_format(folder_.path("model.bin")), FileFormat::safetensors);
  folder_.write("other.bin", Bytes(100));
  EXPECT_EQ(detect_format(folder_.path("other.bin")), std::nullopt);
  EXPECT_THAT(open("other.bin"), FailsWith(Errc::not_gguf));
  EXPECT_THAT(open("missing"), FailsWith(Errc::io_error));
}

TEST_F(SafetensorsReader, AnIndexMustBeThatOfItsShards) {
  const auto tensor = [](const char* name) {
    return "{\""s + name + R"(":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})";
  };
  write("m-1.safetensors", tensor("a"), "x");
  write("m-2.safetensors", tensor("b"), "y");
  const std::string index = "m.safetensors.index.json";
  const auto with = [&](const std::string& map) {
    write_text(index, R"({"metadata":{"total_size":2},"weight_map":)" + map + "}");
    return open(index);
  };
  const auto good = with(R"({"a":"m-1.safetensors","b":"m-2.safetensors"})");
  ASSERT_THAT(good, Succeeds());
  EXPECT_EQ(good->model.tensors().size(), 2u);
  EXPECT_THAT(open("."), Succeeds());  // the folder has one index
  for (const char* map : {"{}", "[]", R"({"a":"m-1.safetensors","b":"m-1.safetensors"})",
                          R"({"a":"m-1.safetensors"})",
                          R"({"a":"m-1.safetensors","b":"m-2.safetensors","c":"m-2.safetensors"})",
                          R"({"a":"../m-1.safetensors"})", R"({"a":"/etc/passwd"})", R"({"a":1})",
                          R"({"a":{"b":"m-1.safetensors"}})", R"({"a":["m-1.safetensors"]})",
                          R"({"a":"m-1.safetensors","a":"m-1.safetensors"})", R"({"a":null})",
                          R"({"a":true})", R"({"a":-1})", R"({"a":0.5})", "{",
                          // Each name is there, but not in the shard that it says.
                          R"({"a":"m-2.safetensors","b":"m-1.safetensors"})"}) {
    if (std::string_view(map) == R"({"a":"m-1.safetensors"})") continue;  // a part is a model
    EXPECT_THAT(with(map), FailsWith(Errc::index_mismatch)) << map;
  }
  EXPECT_THAT(with(R"({"a":"m-3.safetensors"})"), FailsWith(Errc::io_error));
}

TEST_F(SafetensorsReader, AFolderMustSayWhichModelItHolds) {
  EXPECT_THAT(open("."), FailsWith(Errc::not_a_regular_file));
  write("a.safetensors", two_tensors, two_datas);
  EXPECT_THAT(open("."), Succeeds());
  write("b.safetensors", two_tensors, two_datas);
  EXPECT_THAT(open("."), FailsWith(Errc::index_mismatch));
}

TEST_F(SafetensorsReader, ShardsWithoutAnIndexAreFoundByName) {
  const std::string header = R"({"NAME":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})";
  const auto named = [&](const char* name) { return std::string(header).replace(2, 4, name); };
  write("m-00001-of-00002.safetensors", named("a"), "x");
  EXPECT_THAT(open("m-00001-of-00002.safetensors"), FailsWith(Errc::index_mismatch));
  write("m-00002-of-00002.safetensors", named("b"), "y");
  const auto opened = open("m-00002-of-00002.safetensors");
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(opened->model.tensors().size(), 2u);
  write("m-00002-of-00002.safetensors", named("a"), "y");
  EXPECT_THAT(open("m-00002-of-00002.safetensors"), FailsWith(Errc::tensor_duplicate));
}

TEST(SafetensorsStore, AFolderInMemoryOpensAsOneOfTheFileSystem) {
  const Bytes first = make_file(R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]}})", "abc");
  const Bytes second = make_file(R"({"b":{"dtype":"I8","shape":[3],"data_offsets":[0,3]}})", "def");
  const std::string index =
      R"({"weight_map":{"a":"m-00001-of-00002.safetensors","b":"m-00002-of-00002.safetensors"}})";
  MemoryStore store;
  store.add("hub/m-00001-of-00002.safetensors", first);
  store.add("hub/m-00002-of-00002.safetensors", second);
  for (const bool has_index : {false, true}) {
    if (has_index) store.add("hub/m.safetensors.index.json", std::as_bytes(std::span(index)));
    for (const char* name : {"hub", "hub/m-00002-of-00002.safetensors"}) {
      const auto opened = open_any(store, name);
      ASSERT_THAT(opened, Succeeds());
      EXPECT_THAT(opened->paths, testing::ElementsAre("hub/m-00001-of-00002.safetensors",
                                                      "hub/m-00002-of-00002.safetensors"));
      std::string data(3, '\0');
      const TensorInfo& b = *opened->model.find_tensor("b");
      ASSERT_THAT(opened->model.read(b, 0, std::as_writable_bytes(std::span(data))), Succeeds());
      EXPECT_EQ(data, "def");
    }
  }
  EXPECT_THAT(open_any(store, "hub/m.safetensors.index.json"), Succeeds());
  EXPECT_THAT(open_any(store, "other"), FailsWith(Errc::io_error));
  // The files of a set share the limits of one file.
  OpenAnyOptions options;
  options.gguf.limits.max_tensors = 1;
  EXPECT_THAT(open_any(store, "hub", options), FailsWith(Errc::limit_exceeded));
  options.gguf.limits.max_tensors = 2;
  options.gguf.limits.max_header_bytes = 100;  // of the 106 that both headers have
  EXPECT_THAT(open_any(store, "hub", options), FailsWith(Errc::limit_exceeded));
}

TEST_F(SafetensorsReader, OurOwnMetadataIsCheckedLikeAFile) {
  for (const char* text : {"", "AAAA", "R0dVRg==", "!"}) {
    write("a.safetensors", R"({"__metadata__":{"ingot.gguf_metadata":")"s + text + "\"}}", "");
    EXPECT_THAT(open(), FailsWith(Errc::safetensors_header)) << text;
  }
}

}  // namespace
}  // namespace ingot::test
