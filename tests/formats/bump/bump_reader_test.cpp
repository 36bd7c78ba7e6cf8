// SPDX-License-Identifier: MIT
// Bump files of every layout that is known are opened as models.
#include <gmock/gmock.h>

#include <string>

#include "ingot/interop.hpp"
#include "support/bump_builder.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using formats::BumpLayout;

std::string fact(const OpenedModel& opened, std::string_view name) {
  for (const FileFact& entry : opened.facts) {
    if (entry.name == name) return entry.value;
  }
  return {};
}

class BumpReaderTest : public testing::Test {
 protected:
  Result<OpenedModel> open(const Bytes& file, const OpenAnyOptions& options = {}) const {
    return open_any(folder_.write("weights.bump", file), options);
  }

  /// The file opens, and its sections are where the layout says, byte for byte.
  void expect_sections(const BumpParts& parts, const std::string& codes) {
    const Bytes file = build_bump(parts);
    const auto opened = open(file);
    ASSERT_THAT(opened, Succeeds());
    EXPECT_EQ(opened->format, FileFormat::bump);
    EXPECT_EQ(opened->file_bytes, file.size());
    EXPECT_EQ(fact(*opened, "version"), std::to_string(parts.version));
    EXPECT_EQ(fact(*opened, "codes"), codes) << fact(*opened, "layout");
    const auto sections = *formats::lay_out(parts.layout);
    ASSERT_EQ(opened->model.tensors().size(), sections.size());
    std::uint64_t offset = 128;
    if (parts.version > 2) offset = (parts.has_late_table ? 156 : 132) + parts.layout.types.size();
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const TensorInfo& tensor = opened->model.tensors()[i];
      EXPECT_EQ(tensor.name, formats::name_of(sections[i]));
      EXPECT_EQ(tensor.type, sections[i].type);
      ASSERT_EQ(tensor.size_bytes, sections[i].size_bytes) << tensor.name;
      Bytes data(tensor.size_bytes);
      ASSERT_THAT(opened->model.read(tensor, 0, data), Succeeds());
      EXPECT_TRUE(
          std::equal(data.begin(), data.end(), file.begin() + static_cast<std::ptrdiff_t>(offset)))
          << tensor.name;
      offset += tensor.size_bytes;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(BumpReaderTest, Version3InEitherNumbering) {
  expect_sections({.layout = plain_layout(TensorType::q4_k)}, "doc");
  expect_sections({.codes = BumpCodes::engine, .layout = plain_layout(TensorType::q6_k)}, "engine");
  expect_sections({.codes = BumpCodes::engine, .layout = plain_layout(TensorType::q5_0)}, "engine");
  expect_sections({.layout = plain_layout(TensorType::f32)}, "doc or engine");
}

TEST_F(BumpReaderTest, OneCodeWithTwoMeaningsIsSettledBySize) {
  expect_sections({.layout = plain_layout(TensorType::q6_k)}, "doc");
  expect_sections({.codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)}, "engine");
}

TEST_F(BumpReaderTest, PaddedFilesAreSeenByTheirHeader) {
  BumpLayout layout = plain_layout(TensorType::f32);
  formats::BumpShape& shape = layout.shape;
  shape.embedding = 96;
  shape.aligned_embedding = 96;
  shape.head_width = 24;
  shape.aligned_head = 32;
  shape.feed_forward = shape.aligned_feed_forward = 160;
  expect_sections({.layout = layout}, "doc or engine");
  const auto opened = open(build_bump({.layout = layout}));
  EXPECT_EQ(opened->model.find_tensor("layer.0.wo")->shape.size(), 3u);
  EXPECT_THAT(fact(*opened, "layout"), testing::HasSubstr("padded"));
}

TEST_F(BumpReaderTest, Version2HasNoTable) {
  expect_sections({.version = 2, .layout = plain_layout(TensorType::q4_k)}, "none");
  expect_sections({.version = 2, .layout = plain_layout(TensorType::f32)}, "none");
}

TEST_F(BumpReaderTest, Version4SaysEverythingInItsHeader) {
  expect_sections(
      {.version = 4, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q8_0)},
      "engine");
  BumpLayout wide = plain_layout(TensorType::q4_k);
  wide.shape.head_width = wide.shape.aligned_head = 128;  // 4 heads of 128 in a width of 256
  expect_sections({.version = 4, .codes = BumpCodes::engine, .layout = wide}, "engine");
}

TEST_F(BumpReaderTest, Version4WithoutBiases) {
  for (const bool has_output : {false, true}) {
    expect_sections({.version = 4,
                     .codes = BumpCodes::engine,
                     .layout = short_layout(TensorType::q4_k, has_output)},
                    "engine");
  }
}

/// A file of version 4 whose header says what the tokenizer in it has.
BumpParts parts_with(const formats::BumpTokenizer& tokenizer) {
  BumpParts parts{
      .version = 4, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)};
  parts.has_tokenizer_header = true;
  parts.merges = static_cast<std::uint32_t>(tokenizer.merges);
  parts.vocabulary_bytes = static_cast<std::uint32_t>(tokenizer.text_bytes);
  parts.layout.tokenizer = tokenizer;
  return parts;
}

TEST_F(BumpReaderTest, Version4WithATokenizer) {
  expect_sections(parts_with({.tokens = 5, .text_bytes = 17, .merges = 3, .merge_words = 3}),
                  "engine");
}

TEST_F(BumpReaderTest, ALateTableWithoutPositionEmbedding) {
  for (const bool has_output : {false, true}) {
    BumpParts parts = parts_with({.tokens = 5,
                                  .text_bytes = 9,
                                  .has_scores = true,
                                  .has_types = true,
                                  .merges = 2,
                                  .merge_words = 3});
    parts.has_late_table = true;
    parts.layout.has_pos_emb = false;
    parts.layout.has_output = has_output;
    if (has_output) parts.layout.types.insert(parts.layout.types.begin() + 1, TensorType::q4_k);
    expect_sections(parts, "engine");
  }
}

TEST_F(BumpReaderTest, LateWritersHaveFurtherNorms) {
  for (const std::uint64_t layers : {1u, 2u, 3u}) {
    for (unsigned post_norms = 0; post_norms <= 2; ++post_norms) {
      for (unsigned other = 0; other < 8; ++other) {
        BumpParts parts{.version = 4 + other % 2,
                        .codes = BumpCodes::engine,
                        .layout = plain_layout(TensorType::q5_k, layers)};
        parts.has_tokenizer_header = parts.has_late_table = true;
        parts.layout.has_pos_emb = false;
        parts.layout.has_head_norms = other % 4 >= 2;
        parts.layout.post_norms = post_norms;
        parts.layout.has_output = other >= 4;
        if (other % 4 == 1) {  // with a tokenizer
          parts.vocabulary_bytes = 21;
          parts.layout.tokenizer = {.tokens = 5, .text_bytes = 21, .has_types = true};
        }
        std::vector<TensorType>& types = parts.layout.types;
        for (std::uint64_t layer = layers; layer-- > 0;) {
          types.insert(types.begin() + 2 + static_cast<std::ptrdiff_t>(14 * layer), post_norms,
                       TensorType::f32);
        }
        if (parts.layout.has_output) types.insert(types.begin() + 1, TensorType::q5_k);
        SCOPED_TRACE(std::to_string(layers) + " " + std::to_string(post_norms) + " " +
                     std::to_string(other));
        expect_sections(parts, "engine");
      }
    }
  }
}

TEST_F(BumpReaderTest, ATokenizerIsSeveralTensors) {
  const BumpParts parts = parts_with({.tokens = 5,
                                      .text_bytes = 17,
                                      .has_scores = true,
                                      .has_types = true,
                                      .merges = 3,
                                      .merge_words = 3});
  const auto opened = open(build_bump(parts));
  ASSERT_THAT(opened, Succeeds());
  const auto tensors = opened->model.tensors();
  const auto expect = [&](std::size_t at, std::string_view name, TensorType type,
                          std::vector<std::uint64_t> shape) {
    EXPECT_EQ(tensors[at].name, name);
    EXPECT_EQ(tensors[at].type, type);
    EXPECT_THAT(tensors[at].shape, testing::ElementsAreArray(shape));
  };
  expect(1, "vocab_offsets", TensorType::i32, {5});
  expect(2, "vocab_strings", TensorType::i8, {17});
  expect(3, "vocab_scores", TensorType::f32, {5});
  expect(4, "vocab_types", TensorType::i8, {5});
  expect(5, "vocab_merges", TensorType::i32, {3, 3});
}

TEST_F(BumpReaderTest, FurtherNormsAreWhereTheirWriterPutsThem) {
  BumpParts parts{
      .version = 4, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k, 1)};
  parts.has_tokenizer_header = parts.has_late_table = true;
  parts.layout.has_pos_emb = false;
  parts.layout.has_head_norms = true;
  parts.layout.post_norms = 2;
  parts.layout.types.insert(parts.layout.types.begin() + 2, 2, TensorType::f32);
  const auto opened = open(build_bump(parts));
  ASSERT_THAT(opened, Succeeds());
  std::vector<std::string> names;
  for (const TensorInfo& tensor : opened->model.tensors()) {
    names.emplace_back(tensor.name.substr(tensor.name.rfind('.') + 1));
  }
  EXPECT_THAT(names, testing::ElementsAre(
                         "token_emb", "ln1_gamma", "ln2_gamma", "post_attention_norm",
                         "post_ffn_norm", "wq", "bq", "q_norm", "wk", "bk", "k_norm", "wv", "bv",
                         "wo", "bo", "w1", "b1", "w2", "b2", "final_ln_weight", "final_ln_bias"));
  EXPECT_THAT(opened->model.find_tensor("layer.0.q_norm")->shape, testing::ElementsAre(64));
  EXPECT_THAT(opened->model.find_tensor("layer.0.post_ffn_norm")->shape, testing::ElementsAre(256));
}

TEST_F(BumpReaderTest, PlacesAreThoseOfTheFile) {
  const auto opened = open(build_bump({.layout = plain_layout(TensorType::q4_k)}));
  ASSERT_THAT(opened, Succeeds());
  EXPECT_THAT(opened->data_offsets, testing::ElementsAre(128));
  std::uint64_t offset = 132 + 14 * 2 + 4;
  for (const TensorInfo& tensor : opened->model.tensors()) {
    const auto origin = opened->model.origin(tensor);
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->file, 0u);
    EXPECT_EQ(origin->file_offset, offset) << tensor.name;
    offset += tensor.size_bytes;
  }
  EXPECT_FALSE(opened->model.origin(0, 0).has_value());  // no header of GGUF is in the file
}

TEST_F(BumpReaderTest, Version5DescribesItselfAtTheEnd) {
  BumpParts parts{
      .version = 5, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)};
  parts.has_tokenizer_header = parts.has_late_table = true;
  parts.layout.has_pos_emb = false;
  parts.description = R"({"a": 1})";
  expect_sections(parts, "engine");
  Bytes file = build_bump(parts);
  file[file.size() - 50] ^= std::byte{1};  // in the description
  EXPECT_THAT(open(file), FailsWith(Errc::checksum_mismatch));
}

TEST_F(BumpReaderTest, AHostileFooterIsRefused) {
  BumpParts parts{
      .version = 5, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)};
  parts.has_tokenizer_header = parts.has_late_table = true;
  parts.layout.has_pos_emb = false;
  parts.description = R"({"a": 1})";
  const Bytes file = build_bump(parts);
  constexpr std::size_t footer_bytes = 48;
  Bytes other_magic = file;
  other_magic[file.size() - footer_bytes] ^= std::byte{1};
  EXPECT_THAT(open(other_magic), FailsWith(Errc::truncated));
  Bytes other_size = file;
  other_size[file.size() - footer_bytes + 8 + 6] = std::byte{1};  // 2^48 bytes more
  EXPECT_THAT(open(other_size), FailsWith(Errc::bump_header_invalid));
  for (const std::ptrdiff_t size : {128, 150, 175}) {
    EXPECT_FALSE(open(Bytes(file.begin(), file.begin() + size)).has_value()) << size;
  }
}

TEST_F(BumpReaderTest, SectionsThatCannotBeToldApartAreOnePayload) {
  Bytes file = build_bump(
      {.version = 4, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)});
  file.resize(file.size() + 100);  // as if there were sections that nobody knows
  const Bytes checksum = sha256_bytes(std::span(file).subspan(128));
  std::copy(checksum.begin(), checksum.end(), file.begin() + 0x50);
  const auto opened = open(file);
  ASSERT_THAT(opened, Succeeds());
  ASSERT_EQ(opened->model.tensors().size(), 1u);
  EXPECT_EQ(opened->model.tensors()[0].name, "payload");
}

TEST_F(BumpReaderTest, TheConfigurationGivesNamesAndNumbers) {
  const std::string config =
      R"({"model_type": "qwen2", "num_key_value_heads": 2, "intermediate_size": 512,)"
      R"( "rope_theta": 1000000.0})";
  folder_.write("config.json", std::as_bytes(std::span(config)));
  const auto opened = open(build_bump({.layout = plain_layout(TensorType::q4_k)}));
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(opened->model.get<std::string_view>("general.architecture"), "qwen2");
  EXPECT_EQ(opened->model.get<std::uint32_t>("qwen2.feed_forward_length"), 512u);
  EXPECT_EQ(opened->model.get<float>("qwen2.rope.freq_base"), 1e6F);
  EXPECT_EQ(opened->model.get<std::uint32_t>("qwen2.attention.head_count_kv"), 2u);
}

TEST_F(BumpReaderTest, AWrongOrHostileConfigurationIsAsIfItWereNotThere) {
  for (const std::string& config :
       {std::string("{"), std::string("[]"), std::string(30000, '['),
        std::string(R"({"num_key_value_heads": 99999999999, "intermediate_size": 7})"),
        std::string(R"({"model_type": "\u001b[31m", "intermediate_size": -1})")}) {
    folder_.write("config.json", std::as_bytes(std::span(config)));
    const auto opened = open(build_bump({.layout = plain_layout(TensorType::q4_k)}));
    ASSERT_THAT(opened, Succeeds());
    EXPECT_EQ(opened->model.get<std::string_view>("general.architecture"), "llama");
    EXPECT_EQ(opened->model.get<std::uint32_t>("llama.feed_forward_length"), 512u);
  }
}

TEST_F(BumpReaderTest, ABitFlippedAnywhereInThePayloadIsFound) {
  BumpLayout layout = plain_layout(TensorType::f32, 1);
  formats::BumpShape& shape = layout.shape;
  shape.embedding = shape.aligned_embedding = 8;
  shape.feed_forward = shape.aligned_feed_forward = 8;
  shape.head_width = shape.aligned_head = 2;
  const Bytes file = build_bump({.layout = layout});
  ASSERT_THAT(open(file), Succeeds());
  OpenAnyOptions lenient;
  lenient.gguf.is_lenient = true;
  for (std::size_t at = 64; at < file.size(); ++at) {
    if (at >= 96 && at < 128) continue;  // reserved, and covered by nothing
    Bytes flipped = file;
    flipped[at] ^= std::byte{static_cast<unsigned char>(1u << at % 8)};
    const auto opened = open(flipped);
    ASSERT_FALSE(opened.has_value()) << at;
    if (at >= 132 + layout.types.size()) {
      EXPECT_THAT(opened, FailsWith(Errc::checksum_mismatch));
      if (at % 97 == 0) {
        const auto anyway = open(flipped, lenient);
        ASSERT_THAT(anyway, Succeeds());
        EXPECT_THAT(fact(*anyway, "checksum"), testing::HasSubstr("wrong"));
      }
    }
  }
}

TEST_F(BumpReaderTest, ACutOffFileIsRefused) {
  const Bytes file = build_bump(
      {.version = 4, .codes = BumpCodes::engine, .layout = plain_layout(TensorType::q4_k)});
  for (const std::ptrdiff_t size : {8, 100, 127, 128, 131, 140, 170, 1000}) {
    EXPECT_FALSE(open(Bytes(file.begin(), file.begin() + size)).has_value()) << size;
  }
}

TEST_F(BumpReaderTest, HostileHeadersAreRefused) {
  const Bytes file = build_bump({.layout = plain_layout(TensorType::q4_k)});
  const auto with = [&](std::size_t at, std::uint64_t number) {
    Bytes changed = file;
    for (std::size_t i = 0; i < 4; ++i, number >>= 8) {
      changed[at + i] = static_cast<std::byte>(number & 0xFF);
    }
    return open(changed);
  };
  EXPECT_THAT(with(0x08, 4), FailsWith(Errc::bump_header_invalid, 8, "version"));
  EXPECT_THAT(with(0x10, 0xFFFFFFFF), FailsWith(Errc::bump_header_invalid));
  EXPECT_THAT(with(0x80, 14 * 3 + 4), FailsWith(Errc::bump_header_invalid));
  Bytes magic = file;
  magic[7] = std::byte{'9'};
  EXPECT_THAT(open(magic), FailsWith(Errc::bump_header_invalid, 0, "magic"));
}

TEST_F(BumpReaderTest, VerifyingCanBeStopped) {
  OpenAnyOptions options;
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_THAT(open(build_bump({.layout = plain_layout(TensorType::q4_k)}), options),
              FailsWith(Errc::interrupted));
}

}  // namespace
}  // namespace ingot::test
