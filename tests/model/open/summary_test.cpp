// SPDX-License-Identifier: MIT
#include "ingot/summary.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

/// Summarises a file while it is there.
void with_summary(const GgufBuilder& file, const std::function<void(const Summary&)>& look) {
  const Bytes bytes = file.bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  look(summarize(*model));
}

TEST(Summary, SaysWhatTheKeysSay) {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("general.name", "Tiny");
  file.pair("general.file_type", std::uint32_t{15});
  file.pair("llama.context_length", std::uint32_t{4096})
      .pair("llama.block_count", std::uint64_t{2});
  file.pair("llama.embedding_length", 64).pair("llama.vocab_size", std::uint16_t{100});
  file.pair("llama.feed_forward_length", std::uint32_t{256});
  file.array_pair("llama.attention.head_count", {8, 4});
  file.pair("llama.attention.head_count_kv", std::uint8_t{2});
  file.pair("llama.expert_count", 8).pair("llama.expert_used_count", 2);
  file.pair("tokenizer.ggml.model", "gpt2").pair("tokenizer.ggml.pre", "default");
  file.array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", "b", "c"});
  file.array_pair<std::string_view>("tokenizer.ggml.merges", {"a b"});
  file.pair("tokenizer.chat_template", "{{ }}");
  with_summary(file, [](const Summary& summary) {
    EXPECT_EQ(summary.architecture, "llama");
    EXPECT_EQ(summary.name, "Tiny");
    EXPECT_EQ(summary.file_type, 15u);
    EXPECT_EQ(summary.context_length, 4096u);
    EXPECT_EQ(summary.block_count, 2u);
    EXPECT_EQ(summary.embedding_length, 64u);
    EXPECT_EQ(summary.vocab_size, 100u);
    EXPECT_EQ(summary.feed_forward_length->minimum, 256u);
    EXPECT_FALSE(summary.feed_forward_length->is_per_layer);
    EXPECT_EQ(summary.head_count->minimum, 4u);
    EXPECT_EQ(summary.head_count->maximum, 8u);
    EXPECT_TRUE(summary.head_count->is_per_layer);
    EXPECT_EQ(summary.head_count_kv->maximum, 2u);
    EXPECT_EQ(summary.expert_count, 8u);
    EXPECT_EQ(summary.expert_used_count, 2u);
    EXPECT_EQ(summary.tokenizer_model, "gpt2");
    EXPECT_EQ(summary.tokenizer_pre, "default");
    EXPECT_EQ(summary.token_count, 3u);
    EXPECT_EQ(summary.merge_count, 1u);
    EXPECT_TRUE(summary.has_chat_template);
  });
}

TEST(Summary, IsEmptyWhereTheFileDoesNotSay) {
  with_summary(GgufBuilder(), [](const Summary& summary) {
    EXPECT_FALSE(summary.architecture || summary.name || summary.file_type ||
                 summary.context_length || summary.block_count || summary.embedding_length ||
                 summary.feed_forward_length || summary.head_count || summary.head_count_kv ||
                 summary.expert_count || summary.vocab_size || summary.tokenizer_model ||
                 summary.token_count || summary.merge_count || summary.bits_per_weight ||
                 summary.has_chat_template);
    EXPECT_EQ(summary.parameter_count, 0u);
    EXPECT_TRUE(summary.types.empty());
  });
}

TEST(Summary, IgnoresValuesOfTypesThatMakeNoSense) {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("general.name", 1);
  file.pair("general.file_type", "Q4_K").pair("llama.block_count", -1);
  file.pair("llama.context_length", 1.0F).pair("tokenizer.ggml.tokens", "abc");
  file.array_pair("llama.feed_forward_length", {1, -1});
  file.array_key("llama.attention.head_count", ValueType::uint32, 0);
  with_summary(file, [](const Summary& summary) {
    EXPECT_FALSE(summary.name || summary.file_type || summary.block_count ||
                 summary.context_length || summary.token_count || summary.vocab_size ||
                 summary.feed_forward_length || summary.head_count);
  });
  // Without an architecture that is a string, no key is its own.
  with_summary(
      GgufBuilder().pair("general.architecture", 1).pair("1.block_count", 2),
      [](const Summary& summary) { EXPECT_FALSE(summary.architecture || summary.block_count); });
}

TEST(Summary, TakesTheVocabularyFromTheTokensIfNoKeySaysIt) {
  GgufBuilder file;
  file.array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", "b", "c"});
  with_summary(file, [](const Summary& summary) { EXPECT_EQ(summary.vocab_size, 3u); });
}

TEST(Summary, AddsUpTensorsByTypeLargestFirst) {
  GgufBuilder file;
  file.tensor("a", {4}, TensorType::f32, 0).tensor("b", {32, 4}, TensorType::q4_0, 32);
  file.tensor("c", {2, 2}, TensorType::f32, 128).tensor("d", {8}, TensorType::f16, 160);
  file.tensor("none", {0}, TensorType::i8, 0).pad_to(32).data(176);
  with_summary(file, [](const Summary& summary) {
    EXPECT_EQ(summary.parameter_count, 4u + 128 + 4 + 8);
    EXPECT_EQ(summary.tensor_bytes, 16u + 72 + 16 + 16);
    EXPECT_DOUBLE_EQ(*summary.bits_per_weight, 8.0 * 120 / 144);
    ASSERT_EQ(summary.types.size(), 4u);
    EXPECT_EQ(summary.types[0].type, TensorType::q4_0);
    EXPECT_EQ(summary.types[0].size_bytes, 72u);
    EXPECT_EQ(summary.types[1].type, TensorType::f32);
    EXPECT_EQ(summary.types[1].tensor_count, 2u);
    EXPECT_EQ(summary.types[1].element_count, 8u);
    EXPECT_EQ(summary.types[2].type, TensorType::f16);
    EXPECT_EQ(summary.types[3].size_bytes, 0u);
  });
}

TEST(Summary, FindsKeysOfTheArchitecture) {
  const Bytes bytes =
      GgufBuilder().pair("general.architecture", "qwen2").pair("qwen2.x.y", 5).bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(find_architecture_key(*model, "x.y"), model->find("qwen2.x.y"));
  EXPECT_EQ(find_architecture_key(*model, "x"), nullptr);
}

}  // namespace
}  // namespace ingot::test
