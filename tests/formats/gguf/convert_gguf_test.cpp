// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <string>

#include "ingot/convert.hpp"
#include "support/expect_error.hpp"
#include "support/model_sketch.hpp"
#include "support/sample_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

class ConvertGguf : public testing::Test {
 protected:
  /// Converts from one file of the folder to another.
  Result<void> convert(const std::string& from, const std::string& to,
                       const ConvertOptions& options = {}) const {
    INGOT_TRY(const Model model, Model::open(folder_.path(from), {.access = FileAccess::read}));
    INGOT_TRY(const auto conversion,
              plan_conversion(model, FileFormat::gguf, folder_.path(to), options));
    return conversion->run();
  }

  Bytes file(const std::string& name) const { return read_whole(folder_.path(name)); }
  Model open(const std::string& name) const { return *Model::open(folder_.path(name)); }

  TemporaryFolder folder_;
};

/// A tensor of every type, with weights.
ModelSketch every_type() {
  ModelSketch sketch;
  sketch.set("general.architecture", "llama").set("general.file_type", std::uint32_t{7});
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (info.weights == ImportanceWeights::required) {
      // Encoding needs more than the weights; any bytes are blocks of these types.
      Bytes data(std::size_t{3} * 2 * info.block_bytes);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 37);
      sketch.tensor(std::string(info.name), info.type, {2 * info.block_elements, 3}, data);
    } else {
      sketch.tensor(std::string(info.name), info.type, {2 * info.block_elements, 3});
    }
  }
  return sketch;
}

TEST_F(ConvertGguf, ToBigEndianAndBackIsTheSameBytesForEveryType) {
  every_type().write(folder_.path("a.gguf"));
  every_type().write(folder_.path("expected.gguf"), {3, Endian::big});
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.byte_order = Endian::big}), Succeeds());
  EXPECT_EQ(file("b.gguf"), file("expected.gguf"));
  ASSERT_THAT(convert("b.gguf", "c.gguf", {.byte_order = Endian::little}), Succeeds());
  EXPECT_EQ(file("c.gguf"), file("a.gguf"));
  // Without a wish the byte order stays.
  ASSERT_THAT(convert("b.gguf", "d.gguf"), Succeeds());
  EXPECT_EQ(file("d.gguf"), file("b.gguf"));
}

TEST_F(ConvertGguf, VersionsChangeAndComeBack) {
  const ModelSketch sketch = every_type();
  sketch.write(folder_.path("v3.gguf"));
  for (const std::uint32_t version : {1u, 2u}) {
    sketch.write(folder_.path("expected.gguf"), {version, Endian::little});
    ASSERT_THAT(convert("v3.gguf", "old.gguf", {.version = version, .replace = true}), Succeeds());
    EXPECT_EQ(file("old.gguf"), file("expected.gguf"));
    // Version 3 is the default: converting is upgrading.
    ASSERT_THAT(convert("old.gguf", "new.gguf", {.replace = true}), Succeeds());
    EXPECT_EQ(file("new.gguf"), file("v3.gguf"));
  }
}

TEST_F(ConvertGguf, AnOldVersionRefusesWhatItCannotHold) {
  every_type().set("wide", std::uint64_t{1}).write(folder_.path("a.gguf"));
  EXPECT_THAT(convert("a.gguf", "b.gguf", {.version = 1}),
              FailsWith(Errc::version_cannot_hold, Error::no_offset, "wide"));
  EXPECT_THAT(convert("a.gguf", "b.gguf", {.version = 2, .byte_order = Endian::big}),
              FailsWith(Errc::version_cannot_hold));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.gguf"});
}

TEST_F(ConvertGguf, ABigEndianFileBecomesLittleEndianWithAnOldVersion) {
  every_type().write(folder_.path("a.gguf"), {3, Endian::big});
  every_type().write(folder_.path("expected.gguf"), {2, Endian::little});
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.version = 2}), Succeeds());
  EXPECT_EQ(file("b.gguf"), file("expected.gguf"));
}

TEST_F(ConvertGguf, AlignmentIsSetAndMovesTheData) {
  every_type().write(folder_.path("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "same.gguf", {.alignment = 32}), Succeeds());
  EXPECT_EQ(file("same.gguf"), file("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.alignment = 4096}), Succeeds());
  const Model wide = open("b.gguf");
  EXPECT_EQ(wide.get<std::uint32_t>("general.alignment"), 4096u);
  for (const TensorInfo& tensor : wide.tensors()) EXPECT_EQ(wide.file_offset(tensor) % 4096, 0u);
  EXPECT_THAT(convert("a.gguf", "c.gguf", {.alignment = 9}), FailsWith(Errc::alignment_invalid));
}

TEST_F(ConvertGguf, TheFileTypeIsThatOfTheTensors) {
  sketch_llama().set("general.file_type", std::uint32_t{0}).write(folder_.path("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.type = TensorType::bf16}), Succeeds());
  EXPECT_EQ(open("b.gguf").get<std::uint32_t>("general.file_type"), 32u);
  // None has a number for F64.
  ASSERT_THAT(convert("a.gguf", "c.gguf", {.type = TensorType::f64}), Succeeds());
  EXPECT_NE(open("c.gguf").get_or("general.file_type", 0u), 32u);
}

TEST_F(ConvertGguf, RefusesAFormatThatThereIsNot) {
  const std::string path = sketch_llama().write(folder_.path("a.gguf"));
  const auto model = Model::open(path);
  ASSERT_THAT(model, Succeeds());
  EXPECT_THAT(plan_conversion(*model, static_cast<FileFormat>(99), folder_.path("b")),
              FailsWith(Errc::invalid_argument));
}

TEST_F(ConvertGguf, RefusesAPartOfASet) {
  ModelSketch sketch = sketch_llama();
  sketch.set("split.no", std::uint16_t{0}).set("split.count", std::uint16_t{2});
  sketch.set("split.tensors.count", std::int32_t{1000});
  sketch.write(folder_.path("a-00001-of-00002.gguf"));
  EXPECT_THAT(convert("a-00001-of-00002.gguf", "b.gguf"), FailsWith(Errc::shard_mismatch));
}

TEST_F(ConvertGguf, FloatTypesChangeAndNormsKeepTheirs) {
  sketch_llama().set("general.file_type", std::uint32_t{0}).write(folder_.path("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.type = TensorType::f16}), Succeeds());
  const Model before = open("a.gguf");
  const Model after = open("b.gguf");
  EXPECT_EQ(after.get<std::uint32_t>("general.file_type"), 1u);
  EXPECT_EQ(after.find_tensor("output_norm.weight")->type, TensorType::f32);
  for (const TensorInfo& tensor : after.tensors()) {
    const TensorInfo& old = *before.find_tensor(tensor.name);
    EXPECT_EQ(tensor.type, tensor.shape.size() == 2 ? TensorType::f16 : TensorType::f32);
    Bytes expected(tensor.size_bytes);
    std::vector<float> floats(tensor.element_count);
    const std::uint64_t rows = tensor.element_count / tensor.row_elements();
    ASSERT_THAT(before.dequantize_rows(old, 0, rows, floats), Succeeds());
    ASSERT_THAT(quantize(tensor.type, floats, tensor.row_elements(), expected), Succeeds());
    Bytes actual(tensor.size_bytes);
    ASSERT_THAT(after.read(tensor, 0, actual), Succeeds());
    EXPECT_EQ(actual, expected) << tensor.name;
  }
}

TEST_F(ConvertGguf, F32DecodesEverythingButIntegers) {
  every_type().write(folder_.path("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.type = TensorType::f32}), Succeeds());
  const Model after = open("b.gguf");
  for (const TensorInfo& tensor : after.tensors()) {
    const bool is_integer = tensor.name[0] == 'I' && tensor.name[1] != 'Q';
    EXPECT_EQ(tensor.type == TensorType::f32, !is_integer) << tensor.name;
  }
}

TEST_F(ConvertGguf, OtherTypesAreNotConvertedTo) {
  sketch_llama().write(folder_.path("a.gguf"));
  EXPECT_THAT(convert("a.gguf", "b.gguf", {.type = TensorType::q8_0}),
              FailsWith(Errc::invalid_argument));
}

TEST_F(ConvertGguf, TheNumberOfThreadsChangesNothing) {
  sketch_llama({.embedding = 512,
                .heads = 8,
                .head_width = 64,
                .feed_forward = 3008,
                .vocabulary = 1000,
                .type = TensorType::q8_0})
      .tensor("blk.0.ffn_down.weight", TensorType::f32, {3008, 512})
      .write(folder_.path("a.gguf"));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.type = TensorType::bf16, .thread_count = 1}),
              Succeeds());
  ASSERT_THAT(convert("a.gguf", "c.gguf", {.type = TensorType::bf16, .thread_count = 7}),
              Succeeds());
  EXPECT_EQ(file("b.gguf"), file("c.gguf"));
}

TEST_F(ConvertGguf, EveryValueTypeAndQuirkyOrderComeThrough) {
  folder_.write("a.gguf", file_of_everything(v3_big));
  ASSERT_THAT(convert("a.gguf", "b.gguf", {.byte_order = Endian::little}), Succeeds());
  const Model before = open("a.gguf");
  const Model after = open("b.gguf");
  ASSERT_EQ(after.metadata().size(), before.metadata().size());
  ASSERT_EQ(after.tensors().size(), before.tensors().size());
  for (std::size_t i = 0; i < before.tensors().size(); ++i) {
    EXPECT_EQ(after.tensors()[i].name, before.tensors()[i].name);
  }
  EXPECT_EQ(after.find("array.nested")->as_array().size(), 4u);
}

TEST_F(ConvertGguf, TheInputIsNeverTheOutput) {
  sketch_llama().write(folder_.path("a.gguf"));
  std::filesystem::create_hard_link(folder_.path("a.gguf"), folder_.path("hard.gguf"));
  std::filesystem::create_symlink("a.gguf", folder_.path("soft.gguf"));
  const Bytes before = file("a.gguf");
  for (const char* name : {"a.gguf", "hard.gguf", "soft.gguf"}) {
    EXPECT_THAT(convert("a.gguf", name, {.byte_order = Endian::big, .replace = true}),
                FailsWith(Errc::same_file))
        << name;
  }
  std::filesystem::create_directory(folder_.path("folder.gguf"));
  EXPECT_THAT(convert("a.gguf", "folder.gguf", {.replace = true}),
              FailsWith(Errc::not_a_regular_file));
  EXPECT_EQ(file("a.gguf"), before);
}

TEST_F(ConvertGguf, AConversionCanBeStopped) {
  sketch_llama().write(folder_.path("a.gguf"));
  const Model model = open("a.gguf");
  for (const FileFormat format :
       {FileFormat::gguf, FileFormat::safetensors, FileFormat::npz, FileFormat::bump}) {
    const auto conversion = plan_conversion(model, format, folder_.path("out"));
    ASSERT_THAT(conversion, Succeeds());
    EXPECT_THAT((*conversion)->run([](std::uint64_t) { return false; }),
                FailsWith(Errc::interrupted));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.gguf"});
  }
}

}  // namespace
}  // namespace ingot::test
