// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <string>

#include "ingot/convert.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/model_sketch.hpp"
#include "support/sample_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

class ConvertSafetensors : public testing::Test {
 protected:
  Result<std::vector<Error>> write(const std::string& name, const ConvertOptions& options = {},
                                   FileFormat format = FileFormat::safetensors) const {
    INGOT_TRY(const Model model, Model::open(folder_.path("a.gguf"), {.access = FileAccess::read}));
    INGOT_TRY(const auto conversion, plan_conversion(model, format, folder_.path(name), options));
    INGOT_TRY_VOID(conversion->run());
    return conversion->remarks();
  }

  Result<Model> open(const std::string& name) const {
    INGOT_TRY(OpenedModel opened, open_any(folder_.path(name)));
    EXPECT_EQ(opened.format, FileFormat::safetensors);
    return std::move(opened.model);
  }

  static Bytes data(const Model& model, const TensorInfo& tensor) {
    Bytes bytes(tensor.size_bytes);
    EXPECT_THAT(model.read(tensor, 0, bytes), Succeeds());
    return bytes;
  }

  /// Expects the same tensors with the same bits, in any order.
  static void expect_same_tensors(const Model& a, const Model& b) {
    ASSERT_EQ(a.tensors().size(), b.tensors().size());
    for (const TensorInfo& tensor : a.tensors()) {
      const TensorInfo* other = b.find_tensor(tensor.name);
      ASSERT_NE(other, nullptr) << tensor.name;
      EXPECT_EQ(tensor.type, other->type) << tensor.name;
      EXPECT_TRUE(std::equal(tensor.shape.begin(), tensor.shape.end(), other->shape.begin(),
                             other->shape.end()));
      EXPECT_EQ(data(a, tensor), data(b, *other)) << tensor.name;
    }
  }

  TemporaryFolder folder_;
};

ModelSketch plain_types() {
  ModelSketch sketch;
  sketch.set("general.architecture", "llama").set("wide", std::uint64_t{1} << 63);
  sketch.set("text", "a\n\"\xC3\xA9").set("raw", "\xFF").set("float", 0.1F);
  // Integers of odd sizes first, so that the floats would not be aligned.
  sketch.tensor("bytes", TensorType::i8, {3});
  sketch.tensor("scalar", TensorType::f64, {});
  sketch.tensor("none", TensorType::f16, {4, 0});
  for (const TensorType type : {TensorType::bf16, TensorType::f16, TensorType::f32, TensorType::i16,
                                TensorType::i32, TensorType::i64, TensorType::f64}) {
    sketch.tensor(std::string(find_type(type)->name), type, {5, 3, 2});
  }
  return sketch;
}

TEST_F(ConvertSafetensors, KeepsEveryPlainTensorBitForBitAndEveryKey) {
  plain_types().write(folder_.path("a.gguf"));
  ASSERT_THAT(write("a.safetensors"), Succeeds());
  const auto before = Model::open(folder_.path("a.gguf"));
  const auto after = open("a.safetensors");
  ASSERT_THAT(after, Succeeds());
  expect_same_tensors(*before, *after);
  ASSERT_EQ(after->metadata().size(), before->metadata().size());
  EXPECT_EQ(serialise_header(*after)->size() > 0, true);
  EXPECT_EQ(after->get<std::uint64_t>("wide"), std::uint64_t{1} << 63);
  EXPECT_EQ(after->find("float")->type(), ValueType::float32);
  EXPECT_EQ(after->get<std::string_view>("raw"), "\xFF");
}

TEST_F(ConvertSafetensors, ToSafetensorsAndBackIsTheSameFile) {
  sketch_llama().write(folder_.path("a.gguf"));
  ASSERT_THAT(write("a.safetensors"), Succeeds());
  const auto model = open("a.safetensors");
  ASSERT_THAT(model, Succeeds());
  const auto back = plan_conversion(*model, FileFormat::gguf, folder_.path("b.gguf"));
  ASSERT_THAT(back, Succeeds());
  ASSERT_THAT((*back)->run(), Succeeds());
  EXPECT_EQ(read_whole(folder_.path("b.gguf")), read_whole(folder_.path("a.gguf")));
}

TEST_F(ConvertSafetensors, AllValuesOfMetadataComeBack) {
  folder_.write("a.gguf", file_of_everything(v3));
  const auto before = Model::open(folder_.path("a.gguf"));
  ConvertOptions options;
  ASSERT_THAT(write("a.safetensors", options), Succeeds());
  const auto after = open("a.safetensors");
  ASSERT_THAT(after, Succeeds());
  // All but the alignment, which says how the file was made.
  ASSERT_EQ(after->metadata().size() + 1, before->metadata().size());
  for (const KeyValue& entry : after->metadata()) {
    const Value* old = before->find(entry.key);
    ASSERT_NE(old, nullptr);
    EXPECT_EQ(entry.value.type(), old->type()) << entry.key;
    EXPECT_TRUE(std::equal(entry.value.bytes().begin(), entry.value.bytes().end(),
                           old->bytes().begin(), old->bytes().end()))
        << entry.key;
  }
}

TEST_F(ConvertSafetensors, QuantizedTensorsAreDecoded) {
  sketch_llama({.embedding = 64, .head_width = 16, .feed_forward = 96, .type = TensorType::q8_0})
      .write(folder_.path("a.gguf"));
  ASSERT_THAT(write("f32.safetensors"), Succeeds());
  ASSERT_THAT(write("bf16.safetensors", {.type = TensorType::bf16}), Succeeds());
  const auto model = Model::open(folder_.path("a.gguf"));
  const auto f32 = open("f32.safetensors");
  const auto bf16 = open("bf16.safetensors");
  for (const TensorInfo& tensor : model->tensors()) {
    EXPECT_EQ(bf16->find_tensor(tensor.name)->type, TensorType::bf16);
    const TensorInfo& decoded = *f32->find_tensor(tensor.name);
    EXPECT_EQ(decoded.type, TensorType::f32);
    std::vector<float> floats(tensor.element_count);
    ASSERT_THAT(
        model->dequantize_rows(tensor, 0, tensor.element_count / tensor.row_elements(), floats),
        Succeeds());
    const auto expected = std::as_bytes(std::span(floats));
    EXPECT_EQ(data(*f32, decoded), Bytes(expected.begin(), expected.end()));
  }
}

TEST_F(ConvertSafetensors, ShapesThatOnlyFitTheirQuantizedTypeAreRefused) {
  // No data, and yet 2^61 rows would need 2^63 bytes or more as F32: no reader would open that.
  ModelSketch sketch = sketch_llama();
  sketch.tensor("none", TensorType::q4_0, {0, (std::uint64_t{1} << 61) + 1}, {});
  sketch.write(folder_.path("a.gguf"));
  ASSERT_THAT(Model::open(folder_.path("a.gguf")), Succeeds());
  EXPECT_THAT(write("m.safetensors"), FailsWith(Errc::size_overflow, Error::no_offset, "none"));
  EXPECT_THAT(write("m.npz", {}, FileFormat::npz), FailsWith(Errc::size_overflow));
}

TEST_F(ConvertSafetensors, ShardsAreOfLimitedSizeAndOneModel) {
  sketch_llama().write(folder_.path("a.gguf"));
  constexpr std::uint64_t limit = 20000;
  ASSERT_THAT(write("m.safetensors", {.max_file_bytes = limit}), Succeeds());
  const auto before = Model::open(folder_.path("a.gguf"));
  std::size_t shards = 0;
  for (const std::string& name : folder_.names()) {
    if (!name.ends_with(".safetensors")) continue;
    ++shards;
    EXPECT_LE(std::filesystem::file_size(folder_.path(name)), limit) << name;
    const auto model = open(name);  // any shard is all of it
    ASSERT_THAT(model, Succeeds());
    expect_same_tensors(*before, *model);
  }
  EXPECT_GT(shards, 1u);
  const auto by_index = open("m.safetensors.index.json");
  ASSERT_THAT(by_index, Succeeds());
  EXPECT_EQ(by_index->metadata().size(), before->metadata().size());
}

TEST_F(ConvertSafetensors, ATensorAboveTheLimitIsSaidAndHasItsOwnFile) {
  sketch_llama().write(folder_.path("a.gguf"));
  const auto remarks = write("m.safetensors", {.max_file_bytes = 6000});
  ASSERT_THAT(remarks, Succeeds());
  EXPECT_THAT(*remarks, testing::Contains(testing::Field(&Error::code, Errc::above_file_limit)));
}

TEST_F(ConvertSafetensors, OneFileIsEnoughWhereEverythingFits) {
  sketch_llama().write(folder_.path("a.gguf"));
  ASSERT_THAT(write("m.safetensors", {.max_file_bytes = 1 << 30}), Succeeds());
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"a.gguf", "m.safetensors"}));
}

TEST_F(ConvertSafetensors, NamesThatTheTargetGivesAMeaningAreRefused) {
  ModelSketch sketch = sketch_llama();
  sketch.tensor("__metadata__", TensorType::f32, {1}).write(folder_.path("a.gguf"));
  EXPECT_THAT(write("m.safetensors"), FailsWith(Errc::name_does_not_fit));
  for (const char* name : {"/etc/passwd", "../up", "a/../../b", "..", "a\\b", ""}) {
    sketch_llama().tensor(name, TensorType::f32, {1}).write(folder_.path("a.gguf"));
    EXPECT_THAT(write("m.npz", {}, FileFormat::npz),
                FailsWith(Errc::name_does_not_fit, Error::no_offset, name));
  }
}

TEST_F(ConvertSafetensors, WhatOnlyGgufRefusesComesBackFromSafetensorsAndNotToGguf) {
  const std::string name = "model." + std::string(80, 'n');
  const std::string target = folder_.path("b.gguf");
  const auto convert_back = [&](ModelSketch sketch) -> Result<void> {
    sketch.write(folder_.path("a.gguf"), {.is_lenient = true});
    INGOT_TRY(const Model before, Model::open(folder_.path("a.gguf"), {.is_lenient = true}));
    INGOT_TRY(const auto there, plan_conversion(before, FileFormat::safetensors,
                                                folder_.path("a.safetensors"), {.replace = true}));
    INGOT_TRY_VOID(there->run());
    const auto after = open("a.safetensors");
    EXPECT_THAT(after, Succeeds());
    expect_same_tensors(before, *after);
    return plan_conversion(*after, FileFormat::gguf, target).transform([](auto&&) {});
  };
  EXPECT_THAT(convert_back(sketch_llama().tensor(name, TensorType::f32, {2})),
              FailsWith(Errc::tensor_name_too_long, Error::no_offset, name));
  EXPECT_THAT(convert_back(sketch_llama().tensor("t", TensorType::f32, {1, 1, 1, 1, 2})),
              FailsWith(Errc::too_many_dimensions, Error::no_offset, "t"));
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(ConvertSafetensors, TensorsGetTheNamesOfTheCaller) {
  ModelSketch sketch = sketch_llama();
  sketch.write(folder_.path("a.gguf"));
  const RenameTensors rename = [](const Model&, std::vector<OutputTensor> tensors,
                                  std::vector<Error>& remarks) {
    tensors.resize(2);
    tensors[0].name = "first";
    remarks.push_back({Errc::left_out, Error::no_offset, "the others", {}});
    return Result<std::vector<OutputTensor>>(std::move(tensors));
  };
  const auto remarks = write("m.safetensors", {.rename = rename});
  ASSERT_THAT(remarks, Succeeds());
  EXPECT_EQ(remarks->size(), 1u);
  const auto model = open("m.safetensors");
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->tensors().size(), 2u);
  ASSERT_NE(model->find_tensor("first"), nullptr);
  EXPECT_EQ(data(*model, *model->find_tensor("first")), sketch.data("token_embd.weight"));
  const RenameTensors refuse = [](const Model&, std::vector<OutputTensor>, std::vector<Error>&) {
    return Result<std::vector<OutputTensor>>(fail(Errc::architecture_unsupported, "x"));
  };
  EXPECT_THAT(write("n.safetensors", {.rename = refuse}),
              FailsWith(Errc::architecture_unsupported));
}

}  // namespace
}  // namespace ingot::test
