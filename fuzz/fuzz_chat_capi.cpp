// SPDX-License-Identifier: MIT
// Property: for any steps of building a value, any template and any text of inputs, each C function
// returns a code that is not INGOT_ERROR_INTERNAL, runs cover the prompt, and a prompt of inputs
// alone has no control token.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/chat.h"
#include "ingot/chat_prompt.hpp"
#include "support/vocabulary_sketch.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_ok(ingot_code code) {
  require(code != INGOT_ERROR_INTERNAL);
  return code == INGOT_OK;
}

ingot_string text_of(std::string_view text) { return {text.data(), text.size()}; }

/// Letters, and control tokens of a few letters.
ingot_model* open_model() {
  ingot::test::VocabularySketch sketch = ingot::test::ascii_bpe("gpt-2");
  for (const char* text : {"<|e|>", "<|", "ab", "b<"}) {
    sketch.add(text, 0.0F, ingot::TokenKind::control);
  }
  const ingot::test::Bytes bytes = sketch.bytes();
  static const ingot::test::Bytes kept = bytes;
  ingot_model* model = nullptr;
  require(is_ok(ingot_open_memory(kept.data(), kept.size(), nullptr, &model, nullptr)));
  return model;
}

/// One step of building for each byte; strings are what follows the byte.
void build(ingot_chat_value* value, std::string_view steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ingot_string rest = text_of(steps.substr(i + 1, 5));
    switch (steps[i] % 11) {
      case 0:
        ingot_chat_begin_list(value);
        break;
      case 1:
        ingot_chat_begin_object(value);
        break;
      case 2:
        ingot_chat_end(value);
        break;
      case 3:
        ingot_chat_key(value, rest);
        break;
      case 4:
        ingot_chat_add_none(value);
        break;
      case 5:
        ingot_chat_add_bool(value, true);
        break;
      case 6:
        ingot_chat_add_integer(value, -7);
        break;
      case 7:
        ingot_chat_add_real(value, 0.5);
        break;
      case 8:
        ingot_chat_add_string(value, rest);
        break;
      case 9:
        ingot_chat_add_digits(value, text_of("98765432109876543210"));
        break;
      default:
        ingot_chat_add_message(value, "user", rest);
        break;
    }
  }
}

void look_at(const ingot_tokenizer* tokenizer, const ingot_chat_text* text) {
  const std::size_t run_count = ingot_chat_run_count(text);
  std::uint64_t end = 0;
  bool is_input = true;
  for (std::size_t i = 0; i < run_count; ++i) {
    ingot_chat_run run = {};
    require(is_ok(ingot_chat_get_run(text, i, &run, nullptr)) && run.offset_bytes == end);
    end += run.size_bytes;
    is_input = is_input && (run.flags & INGOT_CHAT_RUN_INPUT) != 0;
  }
  require(end == ingot_chat_text_bytes(text).size);
  std::array<ingot_token, 64> ids = {};
  std::array<std::uint8_t, 64> mask = {};
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{INGOT_CHAT_INPUTS_APART},
                                    std::uint32_t{INGOT_ADD_SPECIAL}}) {
    std::size_t count = 0;
    if (!is_ok(ingot_chat_encode(tokenizer, text, flags, ids.data(), mask.data(), ids.size(),
                                 &count, nullptr))) {
      continue;
    }
    for (std::size_t i = 0;
         is_input && flags != INGOT_ADD_SPECIAL && i < std::min(count, ids.size()); ++i) {
      require(ingot_token_kind(tokenizer, ids[i]) != INGOT_TOKEN_KIND_CONTROL);
    }
  }
}

/// The C++ functions that the C ones stand on.
void encode(const std::string& source, std::string_view content) {
  static const auto tokenizer = ingot::test::ascii_bpe("gpt-2").make();
  const auto chat = ingot::ChatTemplate::make(source, ingot::chat_template_key("x"));
  if (!chat) return;
  const auto messages = ingot::ChatValue::list({ingot::chat_message("user", content)});
  ingot::ChatOptions options;
  options.limits.max_steps = 20'000;
  options.limits.max_output_bytes = 1u << 16;
  const auto tokens = ingot::encode_chat(*tokenizer, *chat, messages, {}, options);
  if (!tokens) return;
  require(tokens->is_generated.empty() || tokens->is_generated.size() == tokens->ids.size());
  require(ingot::encode_chat_text(*tokenizer, tokens->text).value().ids == tokens->ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ingot_model* const model = open_model();
  static ingot_tokenizer* const tokenizer = [] {
    ingot_tokenizer* made = nullptr;
    require(is_ok(ingot_tokenizer_make(model, nullptr, &made, nullptr)));
    return made;
  }();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view steps = input.substr(0, input.find('\n'));
  const std::string_view source = input.substr(std::min(size, steps.size() + 1));

  ingot_chat_template* chat = nullptr;
  ingot_chat_place place = {};
  require(!is_ok(ingot_chat_template_make(model, "missing", &chat, &place, nullptr)));
  ingot_chat_value* value = nullptr;
  require(is_ok(ingot_chat_value_make(&value, nullptr)));
  build(value, steps);
  if (is_ok(ingot_chat_template_make_from_text(text_of(source), &chat, &place, nullptr))) {
    require(ingot_chat_template_source(chat).size == source.size());
    ingot_chat_options options = {};
    options.struct_size = sizeof options;
    options.max_steps = 20'000;
    options.max_output_bytes = 1u << 16;
    options.variables = value;
    for (const ingot_chat_value* messages : {static_cast<const ingot_chat_value*>(nullptr),
                                             static_cast<const ingot_chat_value*>(value)}) {
      ingot_chat_text* text = nullptr;
      if (is_ok(ingot_chat_render(chat, messages, &options, &text, &place, nullptr))) {
        look_at(tokenizer, text);
      }
      ingot_chat_text_free(text);
    }
  }
  ingot_chat_template_free(chat);
  ingot_chat_value_free(value);
  encode(std::string(source), steps);
  return 0;
}
