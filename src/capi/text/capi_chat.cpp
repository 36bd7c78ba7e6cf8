// SPDX-License-Identifier: MIT
// Chat templates for C.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/text/text_boundary.hpp"
#include "ingot/chat.h"
#include "ingot/chat_prompt.hpp"

namespace {

using namespace ingot;
using capi::at_boundary;
using capi::require;
using capi::to_view;

/// Deeper than any conversation; deep values would be freed by deep recursion.
constexpr std::size_t max_levels = 200;

/// Puts values where they belong, and remembers the first step that could not be.
class Builder {
 public:
  void begin(ChatValue container) {
    if (open_.size() >= max_levels) return fail("it has more than 200 levels");
    open_.push_back({std::move(container), {}, false});
  }

  void end() {
    if (open_.empty()) return fail("an end without a begin");
    if (open_.back().has_key) return fail("a key without a value");
    ChatValue done = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(done));
  }

  void key(std::string_view name) {
    if (open_.empty() || open_.back().value.members() == nullptr) return fail("a key in no object");
    if (open_.back().has_key) return fail("a key without a value");
    open_.back().key = name;
    open_.back().has_key = true;
  }

  void add(ChatValue value) {
    if (open_.empty()) {
      if (is_complete_) return fail("a second value beside the first");
      result_ = std::move(value);
      is_complete_ = true;
    } else if (open_.back().value.members() == nullptr) {
      open_.back().value.add(std::move(value));
    } else if (open_.back().has_key) {
      open_.back().value.add(std::move(open_.back().key), std::move(value));
      open_.back().has_key = false;
    } else {
      fail("a member without a key");
    }
  }

  void fail_for_memory() noexcept { is_out_of_memory_ = true; }

  /// The value, if it is complete.
  [[nodiscard]] Result<const ChatValue*> get(std::string_view argument) const {
    if (is_out_of_memory_) return ingot::fail(Errc::out_of_memory, std::string(argument));
    const std::string_view problem = !open_.empty() ? "a begin without an end" : problem_;
    if (!problem.empty()) {
      return ingot::fail(Errc::invalid_argument, std::string(argument), std::string(problem));
    }
    return &result_;
  }

 private:
  struct Open {
    ChatValue value;
    std::string key;
    bool has_key = false;
  };

  void fail(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
  }

  std::vector<Open> open_;
  ChatValue result_;
  std::string_view problem_;
  bool is_complete_ = false;
  bool is_out_of_memory_ = false;
};

}  // namespace

struct ingot_chat_value {
  Builder builder;
};
struct ingot_chat_template {
  ChatTemplate chat;
};
struct ingot_chat_text {
  ChatText text;
};

namespace {

/// One step of building.
template <class Step>
void build(ingot_chat_value* value, Step&& step) noexcept {
  if (value == nullptr) return;
  try {
    step(value->builder);
  } catch (...) {  // only std::bad_alloc is possible
    value->builder.fail_for_memory();
  }
}

Result<const ChatValue*> get(const ingot_chat_value* value, std::string_view argument) {
  static const ChatValue none;
  if (value == nullptr) return &none;
  return value->builder.get(argument);
}

/// Tells where an error is, and hands it on.
template <class T>
Result<T> with_place(Result<T> result, ingot_chat_place* place) {
  if (!result && place != nullptr) *place = {result.error().line, result.error().column};
  return result;
}

Result<void> hand_out_template(Result<ChatTemplate> made, ingot_chat_template** chat,
                               ingot_chat_place* place) {
  INGOT_TRY(ChatTemplate compiled, with_place(std::move(made), place));
  *chat = std::make_unique<ingot_chat_template>(ingot_chat_template{std::move(compiled)}).release();
  return {};
}

Result<ChatOptions> chat_options(const ingot_chat_options& given) {
  ChatOptions options;
  options.add_generation_prompt = (given.flags & INGOT_CHAT_NO_GENERATION_PROMPT) == 0;
  options.is_lenient = (given.flags & INGOT_CHAT_LENIENT) != 0;
  if ((given.flags & INGOT_CHAT_HAS_TIME) != 0) {
    options.now =
        ChatTime{given.year, given.month, given.day, given.hour, given.minute, given.second};
  }
  INGOT_TRY(const ChatValue* variables, get(given.variables, "variables"));
  options.variables = *variables;
  if (given.max_depth > options.limits.max_depth) {
    return fail(Errc::invalid_argument, "max_depth", "it is at most 200");
  }
  if (given.max_depth != 0) options.limits.max_depth = given.max_depth;
  capi::take_over(options.limits.max_steps, given.max_steps);
  capi::take_over(options.limits.max_output_bytes, given.max_output_bytes);
  capi::take_over(options.limits.max_memory_bytes, given.max_memory_bytes);
  return options;
}

/// The size of the options in the first version.
constexpr std::size_t first_options_size = sizeof(ingot_chat_options);

EncodeChatOptions prompt_options_of(std::uint32_t flags) noexcept {
  EncodeChatOptions options;
  options.adds_special = (flags & INGOT_ADD_SPECIAL) != 0;
  if ((flags & INGOT_CHAT_INPUTS_APART) != 0) options.inputs = InputTokens::apart;
  if ((flags & INGOT_CHAT_INPUTS_TRUSTED) != 0) options.inputs = InputTokens::trusted;
  return options;
}

}  // namespace

ingot_code ingot_chat_value_make(ingot_chat_value** value, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(value != nullptr, "value"));
    *value = std::make_unique<ingot_chat_value>().release();
    return {};
  });
}

void ingot_chat_value_free(ingot_chat_value* value) {
  const std::unique_ptr<ingot_chat_value> ended(value);
}

void ingot_chat_begin_list(ingot_chat_value* value) {
  build(value, [](Builder& builder) { builder.begin(ChatValue::list()); });
}

void ingot_chat_begin_object(ingot_chat_value* value) {
  build(value, [](Builder& builder) { builder.begin(ChatValue::object()); });
}

void ingot_chat_end(ingot_chat_value* value) {
  build(value, [](Builder& builder) { builder.end(); });
}

void ingot_chat_key(ingot_chat_value* value, ingot_string key) {
  build(value, [&](Builder& builder) { builder.key(to_view(key)); });
}

void ingot_chat_add_none(ingot_chat_value* value) {
  build(value, [](Builder& builder) { builder.add({}); });
}

void ingot_chat_add_bool(ingot_chat_value* value, bool flag) {
  build(value, [&](Builder& builder) { builder.add(flag); });
}

void ingot_chat_add_integer(ingot_chat_value* value, int64_t number) {
  build(value, [&](Builder& builder) { builder.add(number); });
}

void ingot_chat_add_real(ingot_chat_value* value, double number) {
  build(value, [&](Builder& builder) { builder.add(number); });
}

void ingot_chat_add_string(ingot_chat_value* value, ingot_string text) {
  build(value, [&](Builder& builder) { builder.add(to_view(text)); });
}

void ingot_chat_add_digits(ingot_chat_value* value, ingot_string digits) {
  build(value,
        [&](Builder& builder) { builder.add(ChatValue::Digits{std::string(to_view(digits))}); });
}

void ingot_chat_add_message(ingot_chat_value* value, const char* role, ingot_string content) {
  build(value, [&](Builder& builder) {
    builder.add(chat_message(role == nullptr ? "" : role, to_view(content)));
  });
}

ingot_code ingot_chat_template_make(const ingot_model* model, const char* name,
                                    ingot_chat_template** chat, ingot_chat_place* place,
                                    ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(model != nullptr, "model"));
    INGOT_TRY_VOID(require(chat != nullptr, "chat"));
    return hand_out_template(ChatTemplate::make(model->model, name == nullptr ? "" : name), chat,
                             place);
  });
}

ingot_code ingot_chat_template_make_from_text(ingot_string source, ingot_chat_template** chat,
                                              ingot_chat_place* place, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(chat != nullptr, "chat"));
    return hand_out_template(ChatTemplate::make(std::string(to_view(source))), chat, place);
  });
}

void ingot_chat_template_free(ingot_chat_template* chat) {
  const std::unique_ptr<ingot_chat_template> ended(chat);
}

ingot_string ingot_chat_template_source(const ingot_chat_template* chat) {
  return chat == nullptr ? ingot_string{} : capi::to_c(chat->chat.source());
}

ingot_code ingot_chat_render(const ingot_chat_template* chat, const ingot_chat_value* messages,
                             const ingot_chat_options* options, ingot_chat_text** text,
                             ingot_chat_place* place, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(chat != nullptr, "chat"));
    INGOT_TRY_VOID(require(text != nullptr, "text"));
    INGOT_TRY(const ingot_chat_options known, capi::known_options(options, first_options_size));
    INGOT_TRY(const ChatOptions wanted, chat_options(known));
    INGOT_TRY(const ChatValue* conversation, get(messages, "messages"));
    INGOT_TRY(const ChatValue* tools, get(known.tools, "tools"));
    Result<ChatText> result = messages == nullptr
                                  ? chat->chat.render_variables({}, wanted)
                                  : chat->chat.render(*conversation, *tools, wanted);
    INGOT_TRY(ChatText rendered, with_place(std::move(result), place));
    *text = std::make_unique<ingot_chat_text>(ingot_chat_text{std::move(rendered)}).release();
    return {};
  });
}

void ingot_chat_text_free(ingot_chat_text* text) {
  const std::unique_ptr<ingot_chat_text> ended(text);
}

ingot_string ingot_chat_text_bytes(const ingot_chat_text* text) {
  return text == nullptr ? ingot_string{} : capi::to_c(text->text.text);
}

size_t ingot_chat_run_count(const ingot_chat_text* text) {
  return text == nullptr ? 0 : text->text.runs.size();
}

ingot_code ingot_chat_get_run(const ingot_chat_text* text, size_t index, ingot_chat_run* run,
                              ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(text != nullptr, "text"));
    INGOT_TRY_VOID(require(run != nullptr, "run"));
    INGOT_TRY_VOID(capi::require_below(index, text->text.runs.size(), "run"));
    const ChatRun& source = text->text.runs[index];
    *run = {source.offset_bytes, source.size_bytes, 0, 0};
    if (source.is_input) run->flags |= INGOT_CHAT_RUN_INPUT;
    if (source.is_generated) run->flags |= INGOT_CHAT_RUN_GENERATED;
    return {};
  });
}

ingot_code ingot_chat_encode(const ingot_tokenizer* tokenizer, const ingot_chat_text* text,
                             uint32_t flags, ingot_token* ids, uint8_t* is_generated,
                             size_t capacity, size_t* count, ingot_error* error) {
  return at_boundary(error, [&]() -> Result<void> {
    INGOT_TRY_VOID(require(tokenizer != nullptr, "tokenizer"));
    INGOT_TRY_VOID(require(text != nullptr, "text"));
    INGOT_TRY_VOID(capi::require_room(ids, capacity, count, "ids"));
    INGOT_TRY(ChatTokens tokens,
              encode_chat_text(tokenizer->tokenizer, text->text, prompt_options_of(flags)));
    tokens.is_generated.resize(tokens.ids.size());
    if (is_generated != nullptr) {
      capi::copy_fitting(tokens.is_generated, is_generated, capacity, count);
    }
    capi::copy_fitting(tokens.ids, ids, capacity, count);
    return {};
  });
}
