// SPDX-License-Identifier: MIT
// Every rule: a model that breaks it, and the finding that says so; and models that break none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "check/rule_case.hpp"
#include "ingot/check.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A model with one tensor, after the keys that it has already; nothing is wrong with it.
Bytes finished(GgufBuilder& file, TensorType type = TensorType::f32,
               std::vector<std::uint64_t> shape = {8}, std::size_t data_bytes = 32) {
  return file.tensor("t.weight", shape, type, 0).pad_to(32).data(data_bytes).pad_to(32).bytes();
}

GgufBuilder model(Format format = v3) {
  GgufBuilder file(format);
  file.pair("general.architecture", "gpt2");
  return file;
}

/// A model whose tensor is not of interest, with one more key; the keys that gpt2 needs are there.
GgufBuilder with_keys(std::string_view architecture = "gpt2") {
  GgufBuilder file;
  const auto own = [&](std::string_view suffix) {
    return std::string(architecture) + "." + std::string(suffix);
  };
  file.pair("general.architecture", architecture);
  file.pair(own("context_length"), std::uint32_t{64});
  file.pair(own("embedding_length"), std::uint32_t{8});
  file.pair(own("feed_forward_length"), std::uint32_t{16});
  file.pair(own("block_count"), std::uint32_t{1});
  file.pair(own("attention.layer_norm_epsilon"), 1e-5F);
  return file;
}

Bytes with_heads(GgufBuilder file, std::uint32_t heads = 2) {
  file.pair("gpt2.attention.head_count", heads);
  return finished(file);
}

template <class T>
Bytes with_pair(std::string_view key, T value) {
  return with_heads(with_keys().pair(key, value));
}

TEST(CheckModel, FindsNothingInAPlainModel) {
  EXPECT_THAT(broken_rules(with_heads(with_keys())), IsEmpty());
}

TEST(CheckModel, FindsNothingInNumbersOfLayers) {
  for (const std::uint32_t heads : {2u, 0u}) {
    GgufBuilder file = with_keys();
    file.array_key("gpt2.attention.head_count", ValueType::uint32, 1).number(heads);
    EXPECT_THAT(broken_rules(finished(file)), IsEmpty()) << heads;
  }
}

TEST(CheckModel, EachRuleHasANameAndARemedyOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> remedies;
  for (const CheckRule& rule : check_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_EQ(find_check_rule(rule.name), &rule);
    EXPECT_FALSE(rule.title.empty() || rule.remedy.empty()) << rule.name;
    EXPECT_EQ(rule.is_refusal && rule.severity != Severity::error, false) << rule.name;
    EXPECT_TRUE(remedies.insert(rule.remedy).second) << rule.name << ": " << rule.remedy;
  }
  EXPECT_EQ(find_check_rule("no_such_rule"), nullptr);
  EXPECT_NE(find_check_rule("truncated"), nullptr);
}

// --- one broken model for each rule --------------------------------------------------------------

using Case = RuleCase;

void add_file_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const Bytes& bytes) { cases.push_back({rule, bytes}); };
  GgufBuilder old_magic(v3_big, "FUGG");
  old_magic.pair("general.architecture", "gpt2");
  add("old_magic", finished(old_magic));
  GgufBuilder late = model();
  late.pair("ingot.index", std::uint64_t{1});
  add("index_wrong", finished(late));
  GgufBuilder one = model(v1);
  add("old_version", finished(one));
  GgufBuilder wide = model(v1);
  wide.pair("gpt2.x", std::uint64_t{1});
  add("version1_value_type", finished(wide));
  GgufBuilder big = model(v3_big);
  add("big_endian", finished(big));
  GgufBuilder nul = model(v2);
  nul.pair("general.name", std::string_view("x\0", 2));
  add("trailing_nul", finished(nul));
  add("alignment_not_portable", model()
                                    .pair("general.alignment", std::uint32_t{24})
                                    .tensor("t", {8}, TensorType::f32, 0)
                                    .pad_to(24)
                                    .data(48)
                                    .bytes());
  add("alignment_huge", model().pair("general.alignment", std::uint32_t{1} << 31).bytes());
  const auto two = [](std::uint64_t first, std::uint64_t second, std::size_t bytes) {
    GgufBuilder file = model();
    file.tensor("a", {8}, TensorType::f32, first).tensor("b", {8}, TensorType::f32, second);
    file.pad_to(32);
    for (std::size_t i = 0; i < bytes; ++i) file.u8(0);
    return file.bytes();
  };
  add("data_order", two(32, 0, 64));
  add("data_gap", two(0, 64, 96));
  GgufBuilder unpadded = model();
  add("final_padding", unpadded.tensor("t", {3}, TensorType::i8, 0).pad_to(32).data(3).bytes());
  GgufBuilder dirty = model();
  dirty.tensor("t", {3}, TensorType::i8, 0).pad_to(32).data(3).u8(7).pad_to(32);
  add("padding_not_zero", dirty.bytes());
  GgufBuilder tail = model();
  add("trailing_data", tail.tensor("t", {8}, TensorType::f32, 0).pad_to(32).data(33).bytes());
}

void add_key_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const Bytes& bytes) { cases.push_back({rule, bytes}); };
  add("architecture_missing", GgufBuilder().pair("general.name", "x").bytes());
  add("architecture_syntax", GgufBuilder().pair("general.architecture", "../x").bytes());
  add("architecture_unknown", GgufBuilder().pair("general.architecture", "unheardof").bytes());
  const auto projector = [](std::string_view type) {
    GgufBuilder file;
    file.pair("general.architecture", "clip").pair("clip.has_vision_encoder", true);
    return file.pair("clip.projector_type", type).bytes();
  };
  add("projector_type_unknown", projector("unheardof"));
  add("projector_type_unchecked", projector("yasa2"));
  for (const char* key : {"a..b", ".a", "a.", "a-b", "aB", "a b", "gr\xC3\xBC"}) {
    add("key_syntax", with_pair(key, true));
  }
  add("key_control_characters", with_pair("a.\x1b[2J", true));
  add("key_control_characters", with_pair("a.\xE2\x80\xAE"
                                          "b",
                                          true));
  add("key_case_collision", with_heads(with_keys().pair("a.b", true).pair("A.b", true)));
  add("key_case_collision", with_heads(with_keys().pair("a.B", true).pair("A.b", true)));
  add("key_type", with_pair("general.name", std::uint32_t{1}));
  add("key_type", with_pair("gpt2.vocab_size", std::int32_t{-1}));
  add("key_type", with_pair("gpt2.attention.sliding_window_pattern", "every other"));
  add("key_type", with_pair("tokenizer.ggml.tokens", "a b"));
  add("key_type", with_pair("general.quantization_version", std::uint64_t{2}));
  add("key_missing", finished(model().pair("gpt2.context_length", std::uint32_t{1})));
  add("key_implausible", with_heads(with_keys(), 0));
  add("key_implausible", with_heads(with_keys(), 3));
  add("key_implausible", with_pair("gpt2.vocab_size", std::uint64_t{1} << 60));
  add("key_implausible", with_pair("gpt2.attention.head_count_kv", std::uint32_t{3}));
  add("key_implausible", with_pair("gpt2.rope.freq_base", -1.0F));
  GgufBuilder long_context = model();
  long_context.pair("gpt2.context_length", std::uint32_t{1} << 31);
  add("key_implausible", finished(long_context));
  // One number for each layer, of which there is one.
  const auto with_head_counts = [](std::initializer_list<std::uint32_t> counts) {
    GgufBuilder file = with_keys();
    file.array_key("gpt2.attention.head_count", ValueType::uint32, counts.size());
    for (const std::uint32_t count : counts) file.number(count);
    return finished(file);
  };
  add("key_implausible", with_head_counts({2, 2}));
  add("key_implausible", with_head_counts({1u << 31}));
  add("key_implausible", with_heads(with_keys()
                                        .pair("gpt2.expert_count", std::uint32_t{2})
                                        .pair("gpt2.expert_used_count", std::uint32_t{3})));
  add("layer_limit", model().pair("gpt2.block_count", std::uint32_t{513}).bytes());
  add("value_not_finite", with_pair("a", std::numeric_limits<float>::infinity()));
  add("value_not_finite", with_pair("a", std::nan("")));
  add("value_not_finite", with_heads(with_keys().array_pair("a", {1.0F, std::nanf("")})));
  add("value_not_utf8", with_pair("a", "caf\xC3"));
  add("value_not_utf8", with_heads(with_keys().array_pair<std::string_view>("a", {"x", "\xFF"})));
  add("value_control_characters", with_pair("general.name", "\x1b[2J"));
  add("nested_array", with_heads(with_keys().array_key("a", ValueType::array, 0)));
}

void add_tokenizer_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const GgufBuilder& file) {
    cases.push_back({rule, with_heads(file)});
  };
  const auto tokens = [](std::string_view second = "b") {
    return with_keys().array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", second});
  };
  add("tokenizer_lengths", tokens().array_pair("tokenizer.ggml.scores", {1.0F}));
  add("tokenizer_lengths",
      tokens().array_pair("tokenizer.ggml.token_type", {std::int32_t{1}, 1, 1}));
  add("tokenizer_lengths", tokens().pair("gpt2.vocab_size", std::uint32_t{1}));
  add("tokenizer_lengths", with_keys().array_pair("tokenizer.ggml.scores", {1.0F}));
  add("token_id_range", tokens().pair("tokenizer.ggml.bos_token_id", std::uint32_t{2}));
  add("token_id_range", tokens().pair("tokenizer.ggml.eos_token_id", std::int32_t{-1}));
  add("token_not_utf8", tokens("\xFF"));
  add("byte_token", tokens("<0x-1>"));
  add("byte_token",
      tokens("x").array_pair("tokenizer.ggml.token_type", {std::int32_t{1}, std::int32_t{6}}));
  const auto with_template = [](std::string_view text) {
    return with_keys().pair("tokenizer.chat_template", text);
  };
  add("template_unsafe", with_template("{{ ''.__class__.__mro__ }}"));
  add("template_unsafe", with_template("{{ x|attr('\\x5f\\x5fclass') }}"));
  add("template_unsafe", with_template("{% include '/etc/passwd' %}"));
  for (const char* const name :
       {"['__cl'+'ass__']", "['_'*2~'class'~'_'*2]", "[\"_\" \"_class_\" \"_\"]", "[('_' ~ '_x')]",
        " ['%c%cclass%c%c'|format(95, 95, 95, 95)]", "[['__cla', 'ss__']|join]"}) {
    add("template_unsafe", with_template("{% if x %}{{ ''" + std::string(name) + " }}{% endif %}"));
  }
  add("template_large", with_template(std::string((128 << 10) + 1, 'x')));
  add("template_hidden", with_template("a\x1b[2J"));
}

void add_recipe_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const Bytes& bytes) { cases.push_back({rule, bytes}); };
  GgufBuilder quantized = model();
  add("quantization_version", finished(quantized, TensorType::q8_0, {32}, 34));
  GgufBuilder ancient = model();
  ancient.pair("general.quantization_version", std::uint32_t{1});
  add("quantization_version", finished(ancient, TensorType::q8_0, {32}, 34));
  GgufBuilder wrong = model();
  wrong.pair("general.file_type", std::uint32_t{15});
  add("file_type_wrong", finished(wrong, TensorType::f16, {4, 4}));
  GgufBuilder unusual = model();
  unusual.pair("general.file_type", std::uint32_t{0})
      .tensor("a.weight", {2, 2}, TensorType::f32, 32);
  add("file_type_unusual", finished(unusual, TensorType::f16, {4, 4}, 64));
  GgufBuilder unknown = model();
  unknown.pair("general.file_type", std::uint32_t{999});
  add("file_type_unusual", finished(unknown));
  add("vocabulary_only", model().bytes());
  const auto labelled = [&](std::uint32_t file_type, TensorType type,
                            const std::vector<std::uint64_t>& shape, std::size_t bytes) {
    GgufBuilder file = model();
    file.pair("general.file_type", file_type).pair("general.quantization_version", 2u);
    return finished(file, type, shape, bytes);
  };
  // Nothing is quantized; another type; floats by name; a type that nothing falls back to.
  add("file_type_wrong", labelled(2, TensorType::f32, {8}, 32));
  add("file_type_wrong", labelled(7, TensorType::q4_0, {32, 2}, 36));
  add("file_type_wrong", labelled(0, TensorType::q4_0, {32, 2}, 36));
  add("file_type_wrong", labelled(1, TensorType::q4_0, {32}, 18));
  add("file_type_wrong", labelled(15, TensorType::q4_0, {32, 2}, 36));
  // Some are floats, as the file type says, but most are not.
  GgufBuilder most = model();
  most.pair("general.file_type", std::uint32_t{0}).pair("general.quantization_version", 2u);
  most.tensor("a.weight", {2, 2}, TensorType::f32, 64);
  add("file_type_wrong", finished(most, TensorType::q4_0, {32, 2}, 80));
}

void add_tensor_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const Bytes& bytes) { cases.push_back({rule, bytes}); };
  const auto named = [](std::string_view name) {
    return model().tensor(name, {8}, TensorType::f32, 0).pad_to(32).data(32).bytes();
  };
  for (const char* name : {"/etc/passwd", "../../x", "a/../b", ".", "C:x", "a\\b", "-rf", "%s%n",
                           "$(x)", "a b", "a\nb", "<b>", "blk\xE2\x80\xAE.0"}) {
    add("tensor_name_unsafe", named(name));
  }
  add("tensor_name_unsafe", named("x/NUL"));
  add("tensor_name_empty", named(""));
  add("tensor_name_long", named(std::string(64, 'n')));
  for (const char* other : {"a.b", "A.B"}) {
    GgufBuilder file = model();
    file.tensor(other, {8}, TensorType::f32, 0).tensor("a.B", {8}, TensorType::f32, 32);
    add("tensor_case_collision", file.pad_to(32).data(64).bytes());
  }
  const auto shaped = [](const std::vector<std::uint64_t>& shape, TensorType type,
                         std::size_t bytes) {
    return model().tensor("t", shape, type, 0).pad_to(32).data(bytes).pad_to(32).bytes();
  };
  add("tensor_no_dimensions", shaped({}, TensorType::f32, 4));
  add("tensor_no_elements", shaped({4, 0}, TensorType::f32, 0));
  add("tensor_many_dimensions", shaped({2, 1, 2, 1, 2}, TensorType::f32, 32));
  const auto vector = [](std::string_view name, const std::vector<std::uint64_t>& shape,
                         TensorType type, std::size_t bytes) {
    GgufBuilder file = model().pair("general.quantization_version", std::uint32_t{2});
    return file.tensor(name, shape, type, 0).pad_to(32).data(bytes).pad_to(32).bytes();
  };
  add("vector_not_f32", vector("blk.0.attn_norm.weight", {8}, TensorType::f16, 16));
  add("vector_not_f32", vector("blk.0.attn_q_norm.weight", {8, 2}, TensorType::bf16, 32));
  add("vector_not_f32", vector("output_norm.weight", {32}, TensorType::q8_0, 34));
  add("vector_not_f32", vector("blk.0.ffn_gate_exps.bias", {8, 2}, TensorType::f16, 32));
  add("vector_not_f32", vector("rope_freqs.weight", {8, 1}, TensorType::f64, 64));
  add("vector_not_f32", vector("blk.0.ssm_a", {8}, TensorType::bf16, 16));
  add("tensor_type_recent", shaped({32}, TensorType::mxfp4, 17));
  add("tensor_type_internal", shaped({32}, TensorType::q8_1, 36));
  add("tensor_type_opaque", shaped({32}, static_cast<TensorType>(999), 32));
  const auto layered = [](std::uint64_t width, std::string_view name) {
    GgufBuilder file = with_keys("llama");
    file.pair("llama.attention.head_count", std::uint32_t{2});
    return file.tensor(name, {width}, TensorType::f32, 0)
        .pad_to(32)
        .data(4 * width)
        .pad_to(32)
        .bytes();
  };
  // Experts: the widths and the number of matrices.
  const auto expert = [](std::string_view name, const std::vector<std::uint64_t>& shape) {
    GgufBuilder file = with_keys("llama");
    file.pair("llama.attention.head_count", std::uint32_t{2});
    file.pair("llama.expert_count", std::uint32_t{4}).pair("llama.expert_used_count", 2u);
    std::size_t bytes = 4;
    for (const std::uint64_t dimension : shape) bytes *= dimension;
    return file.tensor(name, shape, TensorType::f32, 0).pad_to(32).data(bytes).pad_to(32).bytes();
  };
  add("tensor_shape", expert("blk.0.ffn_gate_inp.weight", {8, 3}));
  add("tensor_shape", expert("blk.0.ffn_gate_exps.weight", {8, 16, 3}));
  add("tensor_shape", expert("blk.0.ffn_up_exps.weight", {4, 16, 4}));
  add("tensor_shape", expert("blk.0.ffn_down_exps.weight", {16, 4, 4}));
  add("tensor_missing", layered(8, "blk.0.attn_norm.weight"));
  add("tensor_extra_layer", layered(8, "blk.1.attn_norm.weight"));
  add("tensor_shape", layered(16, "blk.0.attn_norm.weight"));
  for (const char* name : {"blk.0.attn_nrom.weight", "blk.0.attn_norm.weight.", "blk.0.head"}) {
    add("tensor_unknown", layered(8, name));
  }
}

void add_shard_cases(std::vector<Case>& cases) {
  const auto add = [&](const char* rule, const GgufBuilder& file) {
    cases.push_back({rule, with_heads(file)});
  };
  const auto split = [](std::uint16_t number, std::uint16_t count, std::int32_t tensors) {
    return with_keys()
        .pair("split.no", number)
        .pair("split.count", count)
        .pair("split.tensors.count", tensors);
  };
  add("shard_missing", split(0, 65535, 1));
  add("split_keys", split(5, 2, 1));
  add("split_keys", split(0, 1, 1000));
  add("split_keys", split(0, 1, 0));
  add("split_keys", split(0, 0, 1));
  add("split_keys", with_keys().pair("split.tensors.count", 0));
  add("split_keys", with_keys().pair("split.no", std::uint16_t{0}));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_file_cases(cases);
  add_key_cases(cases);
  add_tokenizer_cases(cases);
  const std::vector<Case> vocabularies = vocabulary_cases();
  cases.insert(cases.end(), vocabularies.begin(), vocabularies.end());
  const std::vector<Case> templates = template_cases();
  cases.insert(cases.end(), templates.begin(), templates.end());
  add_recipe_cases(cases);
  add_tensor_cases(cases);
  add_shard_cases(cases);
  return cases;
}

class CheckRuleTest : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(EachRule, CheckRuleTest, testing::ValuesIn(all_cases()),
                         [](const auto& suite) {
                           return suite.param.rule + "_" + std::to_string(suite.index);
                         });

TEST_P(CheckRuleTest, IsFoundBroken) {
  EXPECT_THAT(broken_rules(GetParam().bytes), Contains(GetParam().rule));
}

TEST(CheckModel, EachRuleHasACase) {
  // Those of weights and folders have tests of their own; shards_mixed and journal_beside take two
  // files, foreign_format one of another format, template_differs another template, and
  // those of pairs a projector.
  std::set<std::string> missing = {};
  for (const CheckRule& rule : check_rules()) {
    if (rule.is_refusal || rule.source == RuleSource::data || rule.source == RuleSource::folder) {
      continue;
    }
    missing.emplace(rule.name);
  }
  for (const Case& each : all_cases()) missing.erase(each.rule);
  EXPECT_THAT(missing,
              testing::ElementsAre("foreign_format", "journal_beside", "projector_mismatch",
                                   "projector_origin", "projector_template", "projector_tokens",
                                   "shards_mixed", "template_differs"));
}

// --- what is not found ---------------------------------------------------------------------------

TEST(CheckModel, ArchitecturesMayHaveDashesInTheirKeys) {
  GgufBuilder file = with_keys("command-r");
  EXPECT_THAT(broken_rules(finished(file)), Not(Contains("key_syntax")));
}

TEST(CheckModel, AnAdapterNeedsNeitherKeysNorLayers) {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("general.type", "adapter");
  file.tensor("blk.0.attn_q.weight.lora_a", {8}, TensorType::f32, 0).pad_to(32).data(32);
  EXPECT_THAT(broken_rules(file.bytes()), IsEmpty());
}

TEST(CheckModel, AnImportanceMatrixHasNoArchitecture) {
  GgufBuilder file;
  file.pair("general.type", "imatrix");
  file.tensor("blk.0.attn_q.weight.in_sum2", {8}, TensorType::f32, 0).pad_to(32).data(32);
  EXPECT_THAT(broken_rules(file.bytes()), IsEmpty());
}

TEST(CheckModel, VectorsThatAnEngineTakesArePlain) {
  const auto broken = [](std::string_view name, const std::vector<std::uint64_t>& shape,
                         TensorType type, std::size_t bytes) {
    GgufBuilder file = model().pair("general.quantization_version", std::uint32_t{2});
    return broken_rules(
        file.tensor(name, shape, type, 0).pad_to(32).data(bytes).pad_to(32).bytes());
  };
  for (const auto& rules :
       {broken("blk.0.attn_norm.weight", {8}, TensorType::f32, 32),
        broken("blk.0.attn_q.weight", {8, 2}, TensorType::f16, 32),
        broken("blk.0.ids", {8}, TensorType::i32, 32), broken("t", {32}, TensorType::q8_0, 34),
        broken("token_embd.weight", {32}, TensorType::q8_0, 34)}) {
    EXPECT_THAT(rules, Not(Contains("vector_not_f32")));
  }
}

TEST(CheckModel, TensorsThatAnArchitectureMayHaveAreKnown) {
  for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_q.bias", "blk.9.attn_q.scale",
                           "blk.0.ffn_up_exps.input_scale", "blk.0.ffn_up.7.weight"}) {
    GgufBuilder file = with_keys("llama");
    file.tensor(name, {8}, TensorType::f32, 0).pad_to(32).data(32);
    EXPECT_THAT(broken_rules(file.bytes()), Not(Contains("tensor_unknown"))) << name;
  }
}

TEST(CheckModel, AFileTypeHoldsWhereRowsAreTooNarrowForIt) {
  const auto broken = [](std::uint32_t file_type, std::uint64_t width, TensorType type,
                         std::size_t bytes) {
    GgufBuilder file = model().pair("general.quantization_version", std::uint32_t{2});
    file.pair("general.file_type", file_type);
    return broken_rules(finished(file, type, {width, 1, 2}, bytes));
  };
  // Q4_K_M: Q5_0 for rows of 96; for rows of 256 there is no reason.
  EXPECT_THAT(broken(15, 96, TensorType::q5_0, 132), Not(Contains("file_type_wrong")));
  EXPECT_THAT(broken(15, 256, TensorType::q5_0, 352), Contains("file_type_wrong"));
  EXPECT_THAT(broken(10, 96, TensorType::q4_0, 108), Not(Contains("file_type_wrong")));
  EXPECT_THAT(broken(30, 96, TensorType::iq4_nl, 108), Not(Contains("file_type_wrong")));
  EXPECT_THAT(broken(29, 256, TensorType::iq2_s, 164), Not(Contains("file_type_wrong")));
  EXPECT_THAT(broken(28, 256, TensorType::iq2_s, 164), Contains("file_type_wrong"));
}

TEST(CheckModel, AShardAloneDoesNotShowTheFileType) {
  GgufBuilder file = model().pair("general.file_type", std::uint32_t{15});
  file.pair("split.no", std::uint16_t{0}).pair("split.count", std::uint16_t{2});
  EXPECT_THAT(broken_rules(finished(file)), Not(Contains("file_type_wrong")));
}

TEST(CheckModel, OrdinaryTemplatesAreSafe) {
  const char* const ordinary =
      "{% set ns = namespace(found=false) %}{{ '\\u2581_' }}"
      "{% for m in messages %}\n\t{{ '<|' + m['role'] + '|>' }}"
      "{{ m.content if m.content is string else m.content|map(attribute='text')|join }}{% endfor %}"
      "{% set x = 'ab' %}{% set z = x[: (x|length - '  '|length)] + messages[0 + 0]['role'] %}"
      "{% set y = ['b' + x] if messages[0]['role'] in ['d' ~ x] else [] %}"
      "{% if add_generation_prompt %}\n\t{{ '<|assistant|>' }}{% endif %}";
  EXPECT_THAT(broken_rules(with_heads(with_keys().pair("tokenizer.chat_template", ordinary))),
              IsEmpty());
}

TEST(CheckModel, LinesAndTabsInADescriptionAreOrdinary) {
  EXPECT_THAT(broken_rules(with_pair("general.description", "a\n\tb \\ c\r\n")), IsEmpty());
}

// --- findings ------------------------------------------------------------------------------------

TEST(CheckModel, SaysWhereAndWhat) {
  const auto findings = findings_of(with_pair("general.Name", std::uint32_t{1}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule->name, "key_syntax");
  EXPECT_EQ(findings[0].key, "general.Name");
  EXPECT_NE(findings[0].file_offset, Error::no_offset);
  EXPECT_EQ(findings[0].tensor, "");
  EXPECT_EQ(findings[0].file, "");
}

/// A template that reaches for the class of a variable, where no conversation comes.
std::string reaching(const std::string& name) {
  return "{% for m in messages %}{{ m.content if m.content is string else m.content[0].text }}"
         "{% endfor %}{% if false %}{{ " +
         name + "_token.__class__ }}{% endif %}";
}

TEST(CheckModel, RunsTheRulesThatAreWanted) {
  GgufBuilder file = with_keys().pair("general.Name", std::uint32_t{1});
  file.pair("tokenizer.chat_template", reaching("x"));
  const auto names = [&](const char* rule, bool is_wanted) {
    std::set<std::string_view> found;
    const CheckOptions options{
        .is_wanted = [=](const CheckRule& each) { return (each.name == rule) == is_wanted; }};
    for (const Finding& finding : findings_of(with_heads(file), options)) {
      found.insert(finding.rule->name);
    }
    return found;
  };
  EXPECT_THAT(names("key_syntax", true), testing::ElementsAre("key_syntax"));
  EXPECT_THAT(names("key_syntax", false), testing::ElementsAre("template_unsafe"));
}

TEST(CheckModel, TellsValuesApartOnRequest) {
  const auto digest = [](const char* name, bool is_asked) {
    const std::string text = reaching(name);
    const auto findings = findings_of(with_pair("tokenizer.chat_template", std::string_view(text)),
                                      {.with_value_digests = is_asked});
    return findings.size() == 1 ? findings[0].value_digest : "?";
  };
  EXPECT_EQ(digest("x", false), "");
  EXPECT_EQ(digest("x", true).size(), 64u);
  EXPECT_EQ(digest("x", true), digest("x", true));
  EXPECT_NE(digest("x", true), digest("y", true));
}

TEST(CheckModel, AModelOfAnotherFormatIsNoGgufFile) {
  const auto findings = findings_of(with_heads(with_keys()), {.is_foreign = true});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule->name, "foreign_format");
  EXPECT_EQ(findings[0].rule->severity, Severity::note);
}

TEST(CheckModel, SaysNoPlaceBeyondTheEndOfTheFile) {
  const Bytes bytes = model()
                          .pair("general.alignment", std::uint32_t{1} << 31)
                          .tensor("none", {0}, TensorType::f32, 0)
                          .bytes();
  for (const Finding& finding : findings_of(bytes)) {
    EXPECT_TRUE(finding.file_offset <= bytes.size() || finding.file_offset == Error::no_offset);
  }
}

TEST(CheckModel, CountsWhatIsBeyondTheLimitOfARule) {
  GgufBuilder file = with_keys();
  for (int i = 0; i < 30; ++i) file.pair("A" + std::to_string(i), true);
  const Bytes bytes = with_heads(file);
  const auto few = findings_of(bytes, {.max_findings_per_rule = 3});
  ASSERT_EQ(few.size(), 4u);
  EXPECT_THAT(few[3].message, HasSubstr("27 more"));
  EXPECT_EQ(findings_of(bytes, {.max_findings_per_rule = 0}).size(), 30u);
}

TEST(CheckModel, EscapesWhatItSays) {
  for (const Finding& finding :
       findings_of(GgufBuilder().pair("general.architecture", "\x1b[2J").bytes())) {
    EXPECT_THAT(finding.message, Not(HasSubstr("\x1b")));
  }
}

TEST(CheckModel, SumsUpBySeverity) {
  CheckSummary summary;
  Finding finding;
  for (const char* rule : {"big_endian", "key_syntax", "data_not_finite", "truncated"}) {
    EXPECT_EQ(summary.is_refused, false);
    finding.rule = find_check_rule(rule);
    summary.count(finding);
  }
  EXPECT_EQ(summary.notes, 1u);
  EXPECT_EQ(summary.warnings, 1u);
  EXPECT_EQ(summary.errors, 2u);
  EXPECT_EQ(summary.security, 0u);
  finding.rule = find_check_rule("template_unsafe");
  summary.count(finding);
  EXPECT_EQ(summary.security, 1u);
  EXPECT_EQ(name_of(finding.rule->category), "security");
  EXPECT_EQ(name_of(find_check_rule("key_syntax")->category), "conformance");
  EXPECT_TRUE(summary.is_refused);
}

TEST(CheckModel, ShardsThatWereMadeDifferently) {
  const TemporaryFolder folder;
  const auto shard = [&](std::uint16_t number, Format format) {
    GgufBuilder file = format.byte_order == Endian::big ? GgufBuilder(v3_big) : with_keys();
    if (format.byte_order == Endian::little) {
      file.pair("gpt2.attention.head_count", std::uint32_t{2});
    }
    file.pair("split.no", number).pair("split.count", std::uint16_t{2});
    file.tensor("t" + std::to_string(number), {8}, TensorType::f32, 0).pad_to(32).data(32);
    return folder.write("m-0000" + std::to_string(number + 1) + "-of-00002.gguf", file.bytes());
  };
  const std::string first = shard(0, v3);
  const std::string second = shard(1, v3_big);
  std::vector<Finding> findings;
  ASSERT_THAT(check_file(first, {}, {}, [&](const Finding& f) { findings.push_back(f); }),
              Succeeds());
  bool is_found = false;
  for (const Finding& finding : findings) {
    if (finding.rule->name != "shards_mixed") continue;
    is_found = true;
    EXPECT_EQ(finding.file, second);
  }
  EXPECT_TRUE(is_found);
}

TEST(CheckModel, FindsShardsOfAnotherArchitecture) {
  const TemporaryFolder folder;
  for (const std::uint16_t number : {std::uint16_t{0}, std::uint16_t{1}}) {
    GgufBuilder file;
    file.pair("general.architecture", number == 0 ? "gpt2" : "llama");
    file.pair("split.no", number).pair("split.count", std::uint16_t{2});
    file.tensor("t" + std::to_string(number), {8}, TensorType::f32, 0).pad_to(32).data(32);
    folder.write("m-0000" + std::to_string(number + 1) + "-of-00002.gguf", file.bytes());
  }
  std::set<std::string> messages;
  const auto sink = [&](const Finding& finding) {
    if (finding.rule->name == "shards_mixed") messages.insert(finding.message);
  };
  ASSERT_THAT(check_file(folder.path("m-00001-of-00002.gguf"), {}, {}, sink), Succeeds());
  EXPECT_THAT(messages, testing::ElementsAre(HasSubstr("architecture")));
}

}  // namespace
}  // namespace ingot::test
