// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <array>

#include "ingot/convert.hpp"
#include "ingot/interop.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/ggml_builder.hpp"
#include "support/sha256.hpp"
#include "support/shared_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t f32_tensor = 0;
constexpr std::uint32_t f16 = 1;
constexpr std::uint32_t q4_0 = 2;
constexpr std::uint32_t q5_0 = 6;
constexpr std::uint32_t q8_0 = 8;

const std::vector<std::string> tokens = {"", "", "", "\x0A", "", " the", "a b"};

/// The smallest model: its feed-forward part needs a tensor that shows its width.
GgmlBuilder small_model(std::string_view magic, std::uint32_t version = 1,
                        std::uint32_t file_type = f16) {
  GgmlBuilder file(magic, version);
  file.shape(1, file_type, tokens);
  file.tensor("layers.0.feed_forward.w1.weight", f16, {32, 96}, std::size_t{32} * 96 * 2);
  return file;
}

Result<OpenedModel> open(const GgmlBuilder& file, const GgmlOptions& facts = {}) {
  MemoryStore store;
  store.add("folder/old.bin", file.bytes());
  return open_any(store, "folder/old.bin", {.ggml = facts});
}

/// The elements of an array, as far as they have that type.
template <class T>
std::vector<T> elements_of(const Model& model, std::string_view key) {
  std::vector<T> elements;
  const Value* value = model.find(key);
  if (value == nullptr) return elements;
  for (const Value& element : value->as_array()) {
    const Result<T> number = element.get<T>();
    if (number) elements.push_back(*number);
  }
  return elements;
}

TEST(GgmlReader, NumbersBecomeKeys) {
  const auto opened =
      open(small_model("tjgg", 3), {.context = 4096, .heads_per_group = 2, .rms_epsilon = 0.5f});
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(opened->format, FileFormat::ggml);
  const Model& model = opened->model;
  EXPECT_EQ(model.get<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(model.get<std::string_view>("general.name"), "old.bin");
  EXPECT_EQ(model.get<std::string_view>("general.description"),
            "converted from legacy GGJTv3 MOSTLY_F16 format");
  EXPECT_EQ(model.get<std::uint32_t>("llama.context_length"), 4096u);
  EXPECT_EQ(model.get<std::uint32_t>("llama.feed_forward_length"), 96u);
  EXPECT_EQ(model.get<std::uint32_t>("llama.rope.dimension_count"), 16u);
  EXPECT_EQ(model.get<std::uint32_t>("llama.attention.head_count"), 2u);
  EXPECT_EQ(model.get<std::uint32_t>("llama.attention.head_count_kv"), 1u);
  EXPECT_EQ(model.get<float>("llama.attention.layer_norm_rms_epsilon"), 0.5f);
}

TEST(GgmlReader, TokensAreThoseOfSentencePiece) {
  const auto opened = open(small_model("fmgg"));
  ASSERT_THAT(opened, Succeeds());
  EXPECT_THAT(elements_of<std::string_view>(opened->model, "tokenizer.ggml.tokens"),
              ElementsAre("<unk>", "<s>", "</s>", "<0x0A>", "", "\u2581the", "a\u2581b"));
  EXPECT_THAT(elements_of<std::int32_t>(opened->model, "tokenizer.ggml.token_type"),
              ElementsAre(2, 3, 3, 6, 3, 1, 1));
  EXPECT_THAT(elements_of<float>(opened->model, "tokenizer.ggml.scores"), testing::Each(-1.0f));
}

TEST(GgmlReader, TensorsHaveTheNamesOfGgufAndTheirBytes) {
  for (const char* magic : {"lmgg", "fmgg", "tjgg"}) {
    GgmlBuilder file = small_model(magic);
    file.tensor("norm.weight", f32_tensor, {32}, 128);
    const auto opened = open(file);
    ASSERT_THAT(opened, Succeeds()) << magic;
    EXPECT_NE(opened->model.find_tensor("blk.0.ffn_gate.weight"), nullptr);
    const TensorInfo* norm = opened->model.find_tensor("output_norm.weight");
    ASSERT_NE(norm, nullptr);
    std::string data(128, '\0');
    ASSERT_THAT(opened->model.read(*norm, 0, std::as_writable_bytes(std::span(data))), Succeeds());
    EXPECT_EQ(data, std::string(128, 'n')) << magic;
  }
}

TEST(GgmlReader, RefusesBlocksOfLayoutsThatWereReplaced) {
  const auto with = [](const char* magic, std::uint32_t version, std::uint32_t type,
                       std::size_t bytes) {
    return open(small_model(magic, version).tensor("output.weight", type, {32, 1}, bytes));
  };
  EXPECT_THAT(with("lmgg", 1, q5_0, 22), FailsWith(Errc::ggml_layout));
  EXPECT_THAT(with("fmgg", 1, q4_0, 18), FailsWith(Errc::ggml_layout));
  EXPECT_THAT(with("tjgg", 1, q5_0, 22), FailsWith(Errc::ggml_layout));
  EXPECT_THAT(with("tjgg", 2, q8_0, 34), FailsWith(Errc::ggml_layout));
  EXPECT_THAT(with("tjgg", 2, q5_0, 22), Succeeds());
  EXPECT_THAT(with("tjgg", 3, q4_0, 18), Succeeds());
  // The number in the header decides even where no tensor has the type.
  EXPECT_THAT(open(small_model("tjgg", 2, 7)), FailsWith(Errc::ggml_layout));
}

TEST(GgmlReader, RefusesBrokenFiles) {
  EXPECT_THAT(open(small_model("tjgg", 4)), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(open(small_model("fmgg", 2)), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(open(small_model("fmgg", 1, 99)), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(open(GgmlBuilder("lmgg").shape(1, f16, tokens)), FailsWith(Errc::ggml_invalid));
  const auto with = [](std::string_view name, std::uint32_t type,
                       const std::vector<std::uint32_t>& dimensions, std::size_t bytes) {
    return open(small_model("lmgg").tensor(name, type, dimensions, bytes));
  };
  EXPECT_THAT(with("layers.1.ffn_norm.weight", f32_tensor, {32}, 128),
              FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(with("layers.0.lora", f32_tensor, {32}, 128), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(with("norm.weight", 77, {32}, 128), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(with("norm.weight", f32_tensor, {}, 128), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(with("norm.weight", f32_tensor, {1, 1, 1, 1, 1}, 4), FailsWith(Errc::ggml_invalid));
  EXPECT_THAT(with("norm.weight", f32_tensor, {33}, 128), FailsWith(Errc::truncated));
  EXPECT_THAT(with("norm.weight", f32_tensor, {~0u, ~0u, ~0u, ~0u}, 0),
              FailsWith(Errc::size_overflow));
  EXPECT_THAT(open(small_model("lmgg"), {.heads_per_group = 3}), FailsWith(Errc::invalid_argument));
  // More tokens than the file has room for.
  EXPECT_THAT(open(GgmlBuilder("lmgg").u32(~0u).u32(32).u32(256).u32(2).u32(1).u32(16).u32(1)),
              FailsWith(Errc::ggml_invalid));
}

TEST(GgmlReader, EveryPrefixOfAFileIsRefused) {
  const GgmlBuilder file = small_model("tjgg", 3);
  for (std::size_t size = 4; size < file.bytes().size(); ++size) {
    MemoryStore store;
    store.add("old.bin", file.bytes().first(size));
    EXPECT_FALSE(open_any(store, "old.bin")) << size;
  }
}

struct GgmlFile {
  const char* name;
  GgmlOptions facts;
  const char* sha256;  // of the GGUF file
};

// The results of the reference converter.
constexpr std::array ggml_goldens = {
    GgmlFile{"ggml-f32", {}, "d76546b0d3ad8174145c8c71659313a66b243dd575557ebf9a6eb7f67bc36ec6"},
    GgmlFile{"ggmf1-f16", {}, "5307e1989a4d6e64298771b9f4053247e8724a56b9cfa9384d2c21252a08a971"},
    GgmlFile{"ggjt1-f16", {}, "dee634dc2653e4b1fc556d3dcd5e4a58c5c53c36f5b24a9019602784a2addbd8"},
    GgmlFile{"ggjt3-q8_0",
             {.context = 4096, .heads_per_group = 1, .rms_epsilon = 1e-5f},
             "d281c85e7c6165562143d57ba1795ae03c1a2088772754f52655f76a2daa2133"},
};

class GgmlGolden : public SharedFilesTest {};

TEST_F(GgmlGolden, ConvertsToTheBytesOfTheReference) {
  const auto folder = shared_folder() / "golden/hf/legacy";
  require_files(folder);
  if (IsSkipped() || HasFailure()) return;
  TemporaryFolder out;
  for (const GgmlFile& golden : ggml_goldens) {
    const auto opened = open_any((folder / golden.name).string() + ".bin", {.ggml = golden.facts});
    ASSERT_THAT(opened, Succeeds()) << golden.name;
    const std::string path = out.path(golden.name);
    const auto conversion = plan_conversion(opened->model, FileFormat::gguf, path);
    ASSERT_THAT(conversion, Succeeds());
    ASSERT_THAT((*conversion)->run({}), Succeeds());
    const auto file = file_system().open(path);
    ASSERT_THAT(file, Succeeds());
    std::vector<std::byte> bytes(static_cast<std::size_t>((*file)->size_bytes()));
    ASSERT_THAT((*file)->read(0, bytes), Succeeds());
    EXPECT_EQ(sha256_of(bytes), golden.sha256) << golden.name;
  }
  for (const char* name : {"ggjt2-q8_0-refused.bin", "ggmf1-q4_0-refused.bin"}) {
    EXPECT_THAT(open_any((folder / name).string()), FailsWith(Errc::ggml_layout)) << name;
  }
}

}  // namespace
}  // namespace ingot::test
