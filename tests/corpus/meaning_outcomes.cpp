// SPDX-License-Identifier: MIT
// Files whose structure is fine, and whose metadata may not be.
#include <cmath>

#include "corpus/outcomes.hpp"

namespace ingot::test {
namespace {

/// A llama with all keys that it needs, the first of which may be replaced.
template <class T>
Bytes llama_with(std::string_view suffix, T value) {
  GgufBuilder file;
  file.pair("general.architecture", "llama");
  const auto own = [&](std::string_view key, auto usual) {
    if (key != suffix) file.pair("llama." + std::string(key), usual);
  };
  own("context_length", std::uint32_t{64});
  own("embedding_length", std::uint32_t{8});
  own("block_count", std::uint32_t{1});
  own("feed_forward_length", std::uint32_t{16});
  own("attention.head_count", std::uint32_t{2});
  own("attention.head_count_kv", std::uint32_t{1});
  own("attention.layer_norm_rms_epsilon", 1e-5F);
  if (!suffix.empty()) file.pair("llama." + std::string(suffix), value);
  return with_one(file, "token_embd.weight", {8}, TensorType::f32, 0, 32);
}

void add_numbers(OutcomeCorpus& corpus) {
  corpus.clean("llama_plain", llama_with("", 0));
  corpus.clean("llama_u64", llama_with("context_length", std::uint64_t{64}));
  for (const char* suffix : {"context_length", "embedding_length", "block_count",
                             "feed_forward_length", "attention.head_count"}) {
    const std::string name = std::string("llama_") + suffix;
    corpus.warned(name + "_zero", llama_with(suffix, std::uint32_t{0}));
    corpus.warned(name + "_max", llama_with(suffix, ~std::uint64_t{0}));
    corpus.warned(name + "_negative", llama_with(suffix, std::int32_t{-1}));
    corpus.warned(name + "_string", llama_with(suffix, "1"));
    corpus.warned(name + "_float", llama_with(suffix, 1.0F));
  }
  corpus.warned("llama_block_count_1e9", llama_with("block_count", std::uint64_t{1'000'000'000}));
  corpus.clean("llama_block_count_600", llama_with("block_count", std::uint32_t{600}));
  corpus.warned("llama_heads_3", llama_with("attention.head_count", std::uint32_t{3}));
  corpus.warned("llama_kv_heads_3", llama_with("attention.head_count_kv", std::uint32_t{3}));
  corpus.warned("llama_epsilon_nan", llama_with("attention.layer_norm_rms_epsilon", std::nanf("")));
  corpus.warned("llama_epsilon_zero", llama_with("attention.layer_norm_rms_epsilon", 0.0F));
  corpus.warned("llama_freq_base_negative", llama_with("rope.freq_base", -1.0F));
  corpus.warned("llama_scaling_type_number", llama_with("rope.scaling.type", std::uint32_t{1}));
  corpus.clean("llama_vocab_size", llama_with("vocab_size", std::uint32_t{0x10000}));
}

void add_general(OutcomeCorpus& corpus) {
  const auto architecture = [](auto value) {
    return with_floats(GgufBuilder().pair("general.architecture", value));
  };
  corpus.warned("architecture_empty", architecture(""));
  corpus.warned("architecture_path", architecture("../../x"));
  corpus.warned("architecture_upper", architecture("LLaMA"));
  corpus.warned("architecture_number", architecture(std::uint32_t{1}));
  corpus.warned("architecture_escape", architecture("\x1b[2J"));
  corpus.clean("architecture_with_a_dash", architecture("gemma4-assistant"));
  corpus.clean("architecture_unheard_of", architecture("unheardof"));
  const auto with = [](std::string_view key, auto value) {
    return with_floats(start().pair(key, value));
  };
  corpus.warned("name_is_a_number", with("general.name", std::uint32_t{1}));
  corpus.warned("file_type_string", with("general.file_type", "Q4_0"));
  corpus.clean("file_type_guessed", with("general.file_type", std::uint32_t{1024}));
  corpus.clean("file_type_unknown", with("general.file_type", std::uint32_t{999}));
  corpus.warned("quantization_version_string", with("general.quantization_version", "2"));
  const auto quantized = [](const GgufBuilder& file) {
    GgufBuilder copy = file;
    return with_one(copy, "t", {32}, TensorType::q4_0, 0, 18);
  };
  corpus.warned("quantization_version_missing", quantized(start()));
  corpus.warned("quantization_version_1",
                quantized(start().pair("general.quantization_version", std::uint32_t{1})));
  corpus.clean("quantization_version_2",
               quantized(start().pair("general.quantization_version", std::uint32_t{2})));
  const auto labelled = [](std::uint32_t file_type, TensorType type, std::size_t bytes) {
    GgufBuilder file = start();
    file.pair("general.quantization_version", std::uint32_t{2});
    file.pair("general.file_type", file_type);
    return with_one(file, "m.weight", {32, 2}, type, 0, bytes);
  };
  corpus.clean("file_type_q8_0", labelled(7, TensorType::q8_0, 68));
  corpus.warned("file_type_lies", labelled(2, TensorType::q8_0, 68));
  corpus.clean("file_type_bf16", labelled(32, TensorType::bf16, 128));
}

void add_tokenizers(OutcomeCorpus& corpus) {
  const auto tokens = [](std::string_view last = "c") {
    return start().array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", "b", last});
  };
  corpus.clean("tokens", tokens().bytes());
  corpus.clean("tokens_with_nul", tokens(std::string_view("\0", 1)).bytes());
  corpus.clean("tokens_byte", tokens("<0xFF>").bytes());
  corpus.warned("tokens_not_utf8", tokens("\xFF\xFE").bytes());
  for (const char* bad : {"<0x-1>", "<0x>", "<0xGG>", "<0x100>"}) {
    corpus.warned(std::string("tokens_byte_") + (bad + 3), tokens(bad).bytes());
  }
  corpus.warned("tokens_string", start().pair("tokenizer.ggml.tokens", "a b c").bytes());
  corpus.warned("tokens_numbers",
                start().array_pair("tokenizer.ggml.tokens", {std::uint32_t{1}}).bytes());
  corpus.clean("scores", tokens().array_pair("tokenizer.ggml.scores", {0.0F, 1.0F, 2.0F}).bytes());
  corpus.warned("scores_short", tokens().array_pair("tokenizer.ggml.scores", {0.0F}).bytes());
  corpus.warned("scores_u8", tokens()
                                 .array_pair("tokenizer.ggml.scores",
                                             {std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}})
                                 .bytes());
  corpus.warned("scores_nan",
                tokens().array_pair("tokenizer.ggml.scores", {0.0F, std::nanf(""), 0.0F}).bytes());
  corpus.warned("scores_alone", start().array_pair("tokenizer.ggml.scores", {0.0F}).bytes());
  corpus.clean("kinds",
               tokens().array_pair("tokenizer.ggml.token_type", {std::int32_t{1}, 1, 1}).bytes());
  corpus.warned("kinds_u8", tokens()
                                .array_pair("tokenizer.ggml.token_type",
                                            {std::uint8_t{1}, std::uint8_t{1}, std::uint8_t{1}})
                                .bytes());
  corpus.warned(
      "kinds_long",
      tokens().array_pair("tokenizer.ggml.token_type", {std::int32_t{1}, 1, 1, 1}).bytes());
  corpus.clean("bos_last", tokens().pair("tokenizer.ggml.bos_token_id", std::uint32_t{2}).bytes());
  corpus.warned("bos_beyond",
                tokens().pair("tokenizer.ggml.bos_token_id", std::uint32_t{3}).bytes());
  corpus.warned("bos_max", tokens().pair("tokenizer.ggml.bos_token_id", ~std::uint64_t{0}).bytes());
  corpus.warned("bos_negative", tokens().pair("tokenizer.ggml.bos_token_id", -1).bytes());
  corpus.warned("bos_string", tokens().pair("tokenizer.ggml.bos_token_id", "1").bytes());
  const auto chat = [](auto value) {
    return start().pair("tokenizer.chat_template", value).bytes();
  };
  corpus.clean("template", chat("{% for m in messages %}{{ m['content'] }}{% endfor %}"));
  corpus.warned("template_dunder", chat("{{ ''.__class__.__mro__[1].__subclasses__() }}"));
  corpus.warned("template_cycler", chat("{{ cycler.__init__.__globals__.os.popen('id').read() }}"));
  corpus.warned("template_attr", chat("{{ x|attr('\\x5f\\x5fclass\\x5f\\x5f') }}"));
  corpus.warned("template_include", chat("{% include '/etc/passwd' %}"));
  corpus.warned("template_escape", chat("hello\x1b[2J"));
  corpus.warned("template_1_mib", chat(std::string_view(std::string(1 << 20, 'x'))));
  corpus.warned("template_number", chat(std::uint32_t{1}));
}

void add_splits(OutcomeCorpus& corpus) {
  const auto split = [](auto number, auto count, auto tensors) {
    return with_floats(start()
                           .pair("split.no", number)
                           .pair("split.count", count)
                           .pair("split.tensors.count", tensors));
  };
  using Short = std::uint16_t;
  corpus.clean("split_one_of_one", split(Short{0}, Short{1}, 1));
  corpus.warned("split_65535", split(Short{0}, Short{65535}, 1));
  corpus.warned("split_5_of_2", split(Short{5}, Short{2}, 1));
  corpus.warned("split_first_of_two", split(Short{0}, Short{2}, 2));
  corpus.warned("split_total_1000", split(Short{0}, Short{1}, 1000));
  corpus.warned("split_total_negative", split(Short{0}, Short{1}, -1));
  corpus.warned("split_total_huge", split(Short{0}, Short{1}, ~std::uint64_t{0}));
  corpus.warned("split_strings", split("0", "1", "1"));
  corpus.warned("split_floats", split(0.0F, 1.0F, 1.0F));
  corpus.warned("split_number_alone", with_floats(start().pair("split.no", Short{0})));
  corpus.warned("split_count_u64", split(std::uint64_t{0}, ~std::uint64_t{0}, 1));
}

}  // namespace

void add_meaning_outcomes(OutcomeCorpus& corpus) {
  add_numbers(corpus);
  add_general(corpus);
  add_tokenizers(corpus);
  add_splits(corpus);
}

}  // namespace ingot::test
