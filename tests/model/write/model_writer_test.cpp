// SPDX-License-Identifier: MIT
// Writing models: what is set comes back, and a file appears complete or not at all.

#include "ingot/model_writer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/sample_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;
using Shape = std::vector<std::uint64_t>;

constexpr WriteFormat little_v3{};
constexpr WriteFormat every_format[] = {
    {1, Endian::little}, {2, Endian::little}, {3, Endian::little}, {3, Endian::big}};

/// Makes data of `size_bytes` bytes, all of the same value, in pieces.
DataProducer filled(std::size_t size_bytes, unsigned char value, std::size_t piece_bytes = 7) {
  return [=](const DataSink& sink) -> Result<void> {
    const Bytes data(size_bytes, std::byte{value});
    for (std::size_t at = 0; at < size_bytes; at += piece_bytes) {
      INGOT_TRY_VOID(sink(std::span(data).subspan(at, std::min(piece_bytes, size_bytes - at))));
    }
    return {};
  };
}

/// A writer with one tensor "t" of three bytes.
ModelWriter small_writer(DataProducer produce = filled(3, 9)) {
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  EXPECT_THAT(writer.add_tensor("t", TensorType::i8, Shape{3}, std::move(produce)), Succeeds());
  return writer;
}

class ModelWriterTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.path("model.gguf");
};

// --- keys

TEST_F(ModelWriterTest, TakesVectorsArraysAndSpansAsTheyAre) {
  ModelWriter writer;
  const std::vector<std::string> texts = {"a", ""};
  const std::array<std::int16_t, 2> numbers = {-1, 2};
  writer.set("general.architecture", "llama");
  writer.set("texts", texts);
  writer.set("views", std::array{"x"sv, "yz"sv});
  writer.set("numbers", std::span(numbers));
  writer.set("flags", std::array{true, false});
  const std::vector<float> floats = {1.5F, -2.0F, 0.0F};
  std::array<std::int32_t, 2> integers = {7, -7};
  const std::vector<std::uint64_t> shape = {3};
  ASSERT_THAT(writer.add_tensor("floats", shape, floats), Succeeds());
  static_assert(StaysInMemory<std::span<const std::byte>> &&
                StaysInMemory<std::vector<std::byte>&> && !StaysInMemory<std::vector<std::byte>>);
  ASSERT_THAT(writer.add_tensor("integers", {1, 2}, integers), Succeeds());
  ASSERT_THAT(writer.write(path_), Succeeds());

  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->find("texts")->as_array().get<std::string_view>(0), "a");
  EXPECT_EQ(model->find("views")->as_array().get<std::string_view>(1), "yz");
  EXPECT_EQ(model->find("numbers")->as_array().element_type(), ValueType::int16);
  EXPECT_EQ(model->find("flags")->as_array().get<bool>(0), true);
  EXPECT_EQ(model->find_tensor("floats")->type, TensorType::f32);
  EXPECT_TRUE(std::ranges::equal(model->data(*model->find_tensor("floats")),
                                 std::as_bytes(std::span(floats))));
  EXPECT_EQ(model->find_tensor("integers")->type, TensorType::i32);
  EXPECT_TRUE(std::ranges::equal(model->data(*model->find_tensor("integers")),
                                 std::as_bytes(std::span(integers))));
}

TEST_F(ModelWriterTest, EveryKindOfValueComesBack) {
  ModelWriter writer;
  writer.set_bool("bool", true);
  writer.set_string("string", wild_text);
  writer.set_string("string.empty", "");
  writer.set("u8", std::uint8_t{255});
  writer.set("i8", std::int8_t{-128});
  writer.set("u16", std::uint16_t{65535});
  writer.set("i16", std::int16_t{-32768});
  writer.set("u32", std::uint32_t{0xFFFFFFFF});
  writer.set("i32", std::int32_t{-1});
  writer.set("u64", std::numeric_limits<std::uint64_t>::max());
  writer.set("i64", std::numeric_limits<std::int64_t>::min());
  writer.set("f32", 0.1F);
  writer.set("f64", 0.1);
  const std::vector<std::string> owned = {"a", "", "b\xFF"};
  writer.set_array("strings", std::span<const std::string>(owned));
  const std::array views = {"x"sv, "yz\0"sv};
  writer.set_array("views", std::span<const std::string_view>(views));
  const std::array<std::int16_t, 3> shorts = {-1, 0, 1};
  writer.set_array("i16s", std::span<const std::int16_t>(shorts));
  writer.set_array("none", std::span<const float>());

  for (const Endian byte_order : {Endian::little, Endian::big}) {
    const auto bytes = writer.serialise_header({3, byte_order});
    ASSERT_THAT(bytes, Succeeds());
    const auto model = Model::open_memory(*bytes);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(find_inconsistency(*model), "");
    EXPECT_EQ(model->metadata().size(), 17u);
    EXPECT_EQ(model->get<bool>("bool"), true);
    EXPECT_EQ(model->get<std::string_view>("string"), wild_text);
    EXPECT_EQ(model->get<std::string_view>("string.empty"), "");
    EXPECT_EQ(model->get<std::uint8_t>("u8"), 255);
    EXPECT_EQ(model->get<std::int8_t>("i8"), -128);
    EXPECT_EQ(model->get<std::uint16_t>("u16"), 65535);
    EXPECT_EQ(model->get<std::int16_t>("i16"), -32768);
    EXPECT_EQ(model->get<std::uint32_t>("u32"), 0xFFFFFFFF);
    EXPECT_EQ(model->get<std::int32_t>("i32"), -1);
    EXPECT_EQ(model->get<std::uint64_t>("u64"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(model->get<std::int64_t>("i64"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(model->get<float>("f32"), 0.1F);
    EXPECT_EQ(model->get<double>("f64"), 0.1);
    EXPECT_EQ(model->find("u16")->type(), ValueType::uint16);
    EXPECT_EQ(model->find("f32")->type(), ValueType::float32);
    EXPECT_EQ(model->find("strings")->as_array().get<std::string_view>(2), "b\xFF");
    EXPECT_EQ(model->find("views")->as_array().get<std::string_view>(1), "yz\0"sv);
    EXPECT_EQ(model->find("i16s")->as_array().element_type(), ValueType::int16);
    EXPECT_EQ(model->find("i16s")->as_array().get<int>(0), -1);
    EXPECT_EQ(model->find("none")->as_array().element_type(), ValueType::float32);
    EXPECT_TRUE(model->find("none")->as_array().empty());
  }
}

TEST_F(ModelWriterTest, ShortWaysWriteTheSameFile) {
  const std::vector<float> floats(8, 0.5F);
  const auto data = std::as_bytes(std::span(floats));
  ModelWriter writer;
  writer.set("general.architecture", "llama");
  writer.set("general.name", std::string("a name"));
  writer.set("is_causal", true);
  ASSERT_THAT(writer.add_tensor("a", TensorType::f32, {4, 2}, data), Succeeds());
  ASSERT_THAT(writer.add_tensor("b", TensorType::f32, {8},
                                [&](const DataSink& sink) { return sink(data); }),
              Succeeds());
  ModelWriter long_way;
  long_way.set_string("general.architecture", "llama");
  long_way.set_string("general.name", "a name");
  long_way.set_bool("is_causal", true);
  for (const auto& [name, shape] : {std::pair{"a", Shape{4, 2}}, std::pair{"b", Shape{8}}}) {
    ASSERT_THAT(long_way.add_tensor(name, TensorType::f32, shape,
                                    [&](const DataSink& sink) { return sink(data); }),
                Succeeds());
  }
  const std::string other = folder_.path("other.gguf");
  ASSERT_THAT(writer.write(path_), Succeeds());
  ASSERT_THAT(long_way.write(other), Succeeds());
  EXPECT_EQ(read_whole(path_), read_whole(other));
  const Result<Model> model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->get<std::string>("general.name"), "a name");
  EXPECT_EQ(model->get_or<std::string>("general.url", "none"), "none");
  EXPECT_EQ(name_of(model->find_tensor("a")->type), "F32");
  EXPECT_EQ(model->find_tensor("a")->row_count(), 2U);
}

TEST_F(ModelWriterTest, ValuesOfAnotherModelAreCopiedWhateverItsFormat) {
  for (const Format format : all_formats) {
    ModelWriter writer;
    {
      const Bytes bytes = file_of_everything(format);
      const auto source = Model::open_memory(bytes);
      ASSERT_THAT(source, Succeeds());
      for (const KeyValue& entry : source->metadata()) writer.set_value(entry.key, entry.value);
    }  // the source is gone, the values are not
    GgufBuilder expected(v3);
    expected.pair("general.architecture", "llama").pair("general.alignment", std::uint32_t{16});
    add_all_values(expected, format);
    EXPECT_EQ(writer.serialise_header(), expected.bytes());
  }
}

TEST_F(ModelWriterTest, SettingAKeyAgainReplacesItsValueAndKeepsItsPlace) {
  ModelWriter writer;
  writer.set("a", 1);
  writer.set("b", 2);
  writer.set_string("a", "text");
  EXPECT_EQ(writer.serialise_header(), GgufBuilder().pair("a", "text").pair("b", 2).bytes());
}

TEST_F(ModelWriterTest, TheHeaderIsTheSameBytesInEveryFormat) {
  ModelWriter writer = small_writer();
  EXPECT_THAT(writer.add_tensor("u", TensorType::q8_0, Shape{64, 2}, filled(136, 1)), Succeeds());
  for (const WriteFormat format : every_format) {
    GgufBuilder expected({format.version, format.byte_order});
    expected.pair("general.architecture", "llama");
    expected.tensor("t", {3}, TensorType::i8, 0).tensor("u", {64, 2}, TensorType::q8_0, 32);
    EXPECT_EQ(writer.serialise_header(format), expected.pad_to(32).bytes());
  }
}

TEST_F(ModelWriterTest, OffsetsFollowTheAlignmentThatIsSet) {
  for (const std::uint32_t alignment : {8u, 24u, 32u, 4096u}) {
    ModelWriter writer;
    writer.set("general.alignment", alignment);
    ASSERT_THAT(writer.add_tensor("a", TensorType::i8, Shape{3}, filled(3, 1)), Succeeds());
    ASSERT_THAT(writer.add_tensor("b", TensorType::i8, Shape{5}, filled(5, 2)), Succeeds());
    ASSERT_THAT(writer.write(path_, {}, true), Succeeds());
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(model->tensors()[1].data_offset, alignment);
    EXPECT_EQ(model->data(model->tensors()[1])[4], std::byte{2});
    EXPECT_EQ(model->files()[0].file_bytes, model->files()[0].data_offset + 2 * alignment);
  }
}

// --- keys change

TEST_F(ModelWriterTest, KeysCanBeFoundRemovedAndRenamed) {
  ModelWriter writer;
  writer.set("a", 1);
  writer.set("b", 2);
  writer.set("c", 3);
  EXPECT_EQ(writer.find("b")->get<int>(), 2);
  EXPECT_FALSE(writer.find("d").has_value());
  EXPECT_TRUE(writer.remove("b"));
  EXPECT_FALSE(writer.remove("b"));
  EXPECT_FALSE(writer.find("b").has_value());
  EXPECT_THAT(writer.rename("a", "c"), FailsWith(Errc::name_taken, Error::no_offset, "c"));
  EXPECT_THAT(writer.rename("b", "d"), FailsWith(Errc::key_not_found, Error::no_offset, "b"));
  EXPECT_THAT(writer.rename("a", "a"), Succeeds());
  EXPECT_THAT(writer.rename("a", "z"), Succeeds());
  writer.set("b", 4);  // again: now it is the last one
  EXPECT_EQ(writer.serialise_header(),
            GgufBuilder().pair("z", 1).pair("c", 3).pair("b", 4).bytes());
}

TEST_F(ModelWriterTest, ArraysOfBools) {
  ModelWriter writer;
  const std::array flags = {true, false, true};
  writer.set_array("flags", std::span<const bool>(flags));
  EXPECT_EQ(writer.serialise_header(),
            GgufBuilder().array_pair("flags", {true, false, true}).bytes());
}

// --- tensors of other models

TEST_F(ModelWriterTest, AModelIsWrittenAgainToTheSameBytes) {
  for (const WriteFormat format : every_format) {
    ModelWriter writer = small_writer();
    ASSERT_THAT(writer.add_tensor("u", TensorType::q8_0, Shape{64, 2}, filled(136, 5)), Succeeds());
    ASSERT_THAT(writer.add_tensor("none", TensorType::f32, Shape{0, 4}, filled(0, 0)), Succeeds());
    ASSERT_THAT(writer.write(path_, format, true), Succeeds());
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      auto opened = Model::open(path_, {.access = access});
      ASSERT_THAT(opened, Succeeds());
      const auto again = ModelWriter::from(*opened);
      ASSERT_THAT(again, Succeeds());
      const Model moved = std::move(*opened);  // a model may move, what it has stays where it is
      const std::string copy = folder_.path("copy.gguf");
      ASSERT_THAT(again->write(copy, format, true), Succeeds());
      EXPECT_EQ(read_whole(copy), read_whole(path_));
    }
  }
}

TEST_F(ModelWriterTest, CopiedTensorsAreTurnedIntoTheByteOrderOfTheTarget) {
  ModelWriter writer;
  for (const TensorTypeInfo& info : live_tensor_types) {
    // Several pieces of some types, with blocks that do not divide them.
    const std::uint64_t elements = std::uint64_t{info.block_elements} * 8'000;
    const auto bytes = static_cast<std::size_t>(8'000) * info.block_bytes;
    const DataProducer numbered = [bytes](const DataSink& sink) {
      Bytes data(bytes);
      for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i % 253);
      return sink(data);
    };
    ASSERT_THAT(writer.add_tensor(info.name, info.type, Shape{elements}, numbered), Succeeds());
  }
  ASSERT_THAT(writer.write(path_), Succeeds());
  const auto little = Model::open(path_);
  ASSERT_THAT(little, Succeeds());
  const std::string big_path = folder_.path("big.gguf");
  ASSERT_THAT(ModelWriter::from(*little)->write(big_path, {3, Endian::big}), Succeeds());
  const auto big = Model::open(big_path);
  ASSERT_THAT(big, Succeeds());
  for (const TensorInfo& tensor : little->tensors()) {
    const auto data = little->data(tensor);
    Bytes expected(data.begin(), data.end());
    ASSERT_THAT(swap_byte_order(tensor.type, expected), Succeeds());
    const auto written = big->data(*big->find_tensor(tensor.name));
    EXPECT_TRUE(std::equal(written.begin(), written.end(), expected.begin(), expected.end()))
        << tensor.name;
  }
  const std::string back_path = folder_.path("back.gguf");
  ASSERT_THAT(ModelWriter::from(*big)->write(back_path), Succeeds());
  EXPECT_EQ(read_whole(back_path), read_whole(path_));
}

TEST_F(ModelWriterTest, CopiesStopOnRequestAndSayWhatIsWrong) {
  ModelWriter large;
  const std::size_t bytes = (std::size_t{16} << 20) + 5;
  ASSERT_THAT(large.add_tensor("t", TensorType::i8, Shape{bytes}, filled(bytes, 7, bytes)),
              Succeeds());
  ASSERT_THAT(large.write(path_), Succeeds());
  const auto source = Model::open(path_);
  ASSERT_THAT(source, Succeeds());
  const auto writer = ModelWriter::from(*source);
  ASSERT_THAT(writer, Succeeds());
  const std::string copy = folder_.path("copy.gguf");
  std::vector<std::uint64_t> seen;
  EXPECT_THAT(writer->write(copy, {}, false,
                            [&](std::uint64_t done) {
                              seen.push_back(done);
                              return false;
                            }),
              FailsWith(Errc::interrupted));
  ASSERT_EQ(seen.size(), 1u);  // within the tensor, not after it
  EXPECT_LT(seen[0], bytes);
  EXPECT_FALSE(fs::exists(copy));
  // The source has become shorter in the meantime.
  const auto by_reading = Model::open(path_, {.access = FileAccess::read});
  ASSERT_THAT(by_reading, Succeeds());
  ASSERT_EQ(::truncate(path_.c_str(), 1 << 20), 0);
  EXPECT_THAT(ModelWriter::from(*by_reading)->write(copy), FailsWith(Errc::truncated));
  EXPECT_FALSE(fs::exists(copy));
}

TEST_F(ModelWriterTest, MemoryIsCopiedToo) {
  const Bytes bytes =
      GgufBuilder().tensor("t", {40}, TensorType::i8, 0).pad_to(32).data(40).bytes();
  const auto source = Model::open_memory(bytes);
  ASSERT_THAT(source, Succeeds());
  ModelWriter writer;
  ASSERT_THAT(writer.add_tensor("a", *source, source->tensors()[0]), Succeeds());
  ASSERT_THAT(writer.add_tensor("b", *source, source->tensors()[0]), Succeeds());
  ASSERT_THAT(writer.write(path_), Succeeds());
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  for (const TensorInfo& tensor : model->tensors()) {
    EXPECT_TRUE(std::equal(model->data(tensor).begin(), model->data(tensor).end(),
                           source->data(source->tensors()[0]).begin()));
  }
}

// --- refusals

TEST_F(ModelWriterTest, WritesNothingThatAReaderWouldRefuse) {
  const auto refusal = [&](const auto& change) {
    ModelWriter writer = small_writer();
    change(writer);
    const auto header = writer.serialise_header();
    const auto written = writer.write(path_);
    EXPECT_EQ(header.has_value(), written.has_value());
    EXPECT_FALSE(fs::exists(path_));
    return written;
  };
  const auto add = [](const std::string& name, const Shape& shape, TensorType type) {
    return [=](ModelWriter& writer) { return writer.add_tensor(name, type, shape, filled(1, 1)); };
  };
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set("", 1); }), FailsWith(Errc::key_empty));
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set("a\0b"sv, 1); }), FailsWith(Errc::key_invalid));
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set(std::string(65536, 'k'), 1); }),
              FailsWith(Errc::key_too_long));
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set("general.alignment", 32); }),
              FailsWith(Errc::alignment_wrong_type));
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set("general.alignment", 0u); }),
              FailsWith(Errc::alignment_invalid));
  EXPECT_THAT(refusal([](ModelWriter& w) { w.set("general.alignment", 4u); }),
              FailsWith(Errc::alignment_too_small));
  EXPECT_THAT(refusal(add("t", {1}, TensorType::i8)), FailsWith(Errc::tensor_duplicate));
  EXPECT_THAT(refusal(add("\xFF", {1}, TensorType::i8)), FailsWith(Errc::tensor_name_invalid));
  EXPECT_THAT(refusal(add(std::string(65, 'n'), {1}, TensorType::i8)),
              FailsWith(Errc::tensor_name_too_long));
  EXPECT_THAT(refusal(add("u", Shape(5, 1), TensorType::i8)), FailsWith(Errc::too_many_dimensions));
}

TEST_F(ModelWriterTest, WritesWhatOnlyALenientReaderOpensOnRequest) {
  const std::string name(65, 'n');
  ModelWriter writer;
  ASSERT_THAT(writer.add_tensor(name, TensorType::i8, Shape(5, 1), filled(1, 1)), Succeeds());
  EXPECT_THAT(writer.write(path_), FailsWith(Errc::tensor_name_too_long, Error::no_offset, name));
  ASSERT_THAT(writer.write(path_, {.is_lenient = true}), Succeeds());
  EXPECT_THAT(Model::open(path_), FailsWith(Errc::tensor_name_too_long));
  const auto model = Model::open(path_, {.is_lenient = true});
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->tensors()[0].name, name);
  EXPECT_EQ(model->tensors()[0].shape.size(), 5u);
}

TEST_F(ModelWriterTest, RefusesTensorsWithoutASizeAtOnce) {
  ModelWriter writer;
  const auto add = [&](const Shape& shape, TensorType type) {
    return writer.add_tensor("t", type, shape, filled(1, 1));
  };
  EXPECT_THAT(add({1}, static_cast<TensorType>(4)), FailsWith(Errc::tensor_type_unknown));
  EXPECT_THAT(add({1}, static_cast<TensorType>(99)), FailsWith(Errc::tensor_type_unknown));
  EXPECT_THAT(add({31}, TensorType::q4_0), FailsWith(Errc::row_not_whole_blocks));
  const std::uint64_t half = std::uint64_t{1} << 32;
  EXPECT_THAT(add({half, half}, TensorType::i8), FailsWith(Errc::size_overflow));
  EXPECT_EQ(writer.serialise_header(), GgufBuilder().bytes());  // nothing was added
}

TEST_F(ModelWriterTest, OffsetsThatWouldOverflowAreRefused) {
  ModelWriter writer;
  const Shape most = {(std::uint64_t{1} << 63) - 1};
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_THAT(writer.add_tensor(name, TensorType::i8, most, filled(1, 1)), Succeeds());
  }
  EXPECT_THAT(writer.serialise_header(), FailsWith(Errc::size_overflow));
  EXPECT_THAT(writer.file_bytes(), FailsWith(Errc::size_overflow));
}

TEST_F(ModelWriterTest, OldVersionsRefuseWhatTheyCannotHold) {
  ModelWriter writer;
  writer.set("wide", std::uint64_t{1});
  EXPECT_THAT(writer.write(path_, {1, Endian::little}),
              FailsWith(Errc::version_cannot_hold, Error::no_offset, "wide"));
  EXPECT_THAT(writer.write(path_, {2, Endian::big}), FailsWith(Errc::version_cannot_hold));
  EXPECT_THAT(writer.write(path_, {4, Endian::little}), FailsWith(Errc::unsupported_version));
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
}

// --- files

TEST_F(ModelWriterTest, WritesAFileWithPaddingAfterTheLastTensor) {
  for (const WriteFormat format : every_format) {
    const ModelWriter writer = small_writer();
    ASSERT_THAT(writer.write(path_, format, true), Succeeds());
    Bytes expected = *writer.serialise_header(format);
    expected.insert(expected.end(), 3, std::byte{9});
    expected.resize(expected.size() + 29);
    EXPECT_EQ(read_whole(path_), expected);
    EXPECT_EQ(writer.file_bytes(format), expected.size());
    const auto model = Model::open(path_);
    ASSERT_THAT(model, Succeeds());
    EXPECT_EQ(find_inconsistency(*model), "");
  }
}

TEST_F(ModelWriterTest, TensorsWithoutElementsHaveNoData) {
  ModelWriter writer;
  ASSERT_THAT(writer.add_tensor("none", TensorType::f32, Shape{0, 4}, filled(0, 0)), Succeeds());
  ASSERT_THAT(writer.add_tensor("one", TensorType::i8, Shape{}, filled(1, 5)), Succeeds());
  ASSERT_THAT(writer.write(path_), Succeeds());
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->tensors()[1].data_offset, 0u);
  EXPECT_EQ(model->data(model->tensors()[1])[0], std::byte{5});
}

TEST_F(ModelWriterTest, ReplacesAFileOnlyOnRequestAndKeepsItsPermissions) {
  folder_.write("model.gguf", Bytes(4));
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  EXPECT_THAT(small_writer().write(path_), FailsWith(Errc::already_exists));
  EXPECT_EQ(read_whole(path_), Bytes(4));
  ASSERT_THAT(small_writer().write(path_, {}, true), Succeeds());
  EXPECT_THAT(Model::open(path_), Succeeds());
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(ModelWriterTest, AProducerThatFailsLeavesNothing) {
  const auto failing = [](const DataSink& sink) -> Result<void> {
    INGOT_TRY_VOID(sink(Bytes(2)));
    return fail(Errc::io_error, "source", "the source failed");
  };
  EXPECT_THAT(small_writer(failing).write(path_),
              FailsWith(Errc::io_error, Error::no_offset, "source"));
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
  folder_.write("model.gguf", Bytes(4));
  EXPECT_THAT(small_writer(failing).write(path_, {}, true), FailsWith(Errc::io_error));
  EXPECT_EQ(read_whole(path_), Bytes(4));
}

TEST_F(ModelWriterTest, DataOfTheWrongSizeLeavesNothing) {
  for (const std::size_t size : {0u, 2u, 4u, 1000u}) {
    EXPECT_THAT(small_writer(filled(size, 1)).write(path_),
                FailsWith(Errc::size_mismatch, Error::no_offset, "t"))
        << size;
  }
  EXPECT_THAT(small_writer(DataProducer()).write(path_),
              FailsWith(Errc::invalid_argument, Error::no_offset, "t"));
  EXPECT_THAT(folder_.names(), testing::IsEmpty());
}

TEST_F(ModelWriterTest, ProgressIsToldTheBytesAndMayStop) {
  const ModelWriter writer = small_writer(filled(3, 9, 1));
  std::vector<std::uint64_t> seen;
  const std::uint64_t header_bytes = writer.serialise_header()->size();
  ASSERT_THAT(writer.write(path_, {}, false,
                           [&](std::uint64_t done) {
                             seen.push_back(done);
                             return true;
                           }),
              Succeeds());
  EXPECT_THAT(seen, testing::ElementsAre(header_bytes + 1, header_bytes + 2, header_bytes + 3));
  const std::string other = folder_.path("other.gguf");
  EXPECT_THAT(
      writer.write(other, {}, false, [&](std::uint64_t done) { return done < header_bytes + 2; }),
      FailsWith(Errc::interrupted));
  EXPECT_FALSE(fs::exists(other));
}

TEST_F(ModelWriterTest, CanBeMovedAndWritesTheSameTwice) {
  ModelWriter writer = small_writer();
  const ModelWriter moved = std::move(writer);
  ASSERT_THAT(moved.write(path_), Succeeds());
  ASSERT_THAT(moved.write(folder_.path("again.gguf")), Succeeds());
  EXPECT_EQ(read_whole(path_), read_whole(folder_.path("again.gguf")));
}

// --- headers of open models

TEST_F(ModelWriterTest, TheHeaderOfAnOpenModelIsWrittenInAnyFormat) {
  const Bytes bytes = file_of_everything(v3);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto same = serialise_header(*model);
  ASSERT_THAT(same, Succeeds());
  EXPECT_TRUE(std::equal(same->begin(), same->end(), bytes.begin()));
  EXPECT_EQ(same->size(), model->files()[0].data_offset);
  const Bytes big = file_of_everything(v3_big);
  const auto swapped = serialise_header(*model, 0, {3, Endian::big});
  ASSERT_THAT(swapped, Succeeds());
  EXPECT_TRUE(std::equal(swapped->begin(), swapped->end(), big.begin()));
  EXPECT_THAT(serialise_header(*model, 0, {1, Endian::little}),
              FailsWith(Errc::version_cannot_hold));
  EXPECT_THAT(serialise_header(*model, 1), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(serialise_header(*model, 1, little_v3), FailsWith(Errc::index_out_of_range));
}

}  // namespace
}  // namespace ingot::test
