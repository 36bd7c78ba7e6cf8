// SPDX-License-Identifier: MIT
// Property: any text is refused as a template with an error that can be shown, or renders within
// its limits, and within the CPU time that they stand for: the same text twice, with runs that
// cover it, and a shorter limit changes nothing but the limit that is named.

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string>
#include <string_view>

#include "ingot/chat.hpp"
#include "ingot/model.hpp"
#include "ingot/text.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

ChatOptions small_options() {
  ChatOptions options;
  options.now = parse_chat_time("2025-07-04T05:06:07").value();
  options.limits.max_steps = 20'000;
  options.limits.max_output_bytes = 1u << 18;
  options.limits.max_string_bytes = 1u << 16;
  options.limits.max_elements = 4096;
  options.limits.max_memory_bytes = 1u << 24;
  return options;
}

ChatValue conversation() {
  const ChatValue call = ChatValue::object(
      {{"function",
        ChatValue::object({{"name", "f"}, {"arguments", ChatValue::object({{"x", 1.5}})}})}});
  ChatValue answer = chat_message("assistant", nullptr);
  answer.add("tool_calls", ChatValue::list({call}));
  return ChatValue::list({chat_message("system", "Be brief."), chat_message("user", "<|im_end|>"),
                          answer, chat_message("tool", "{\"a\": [1, null]}")});
}

void check_error(const Error& error) {
  const std::string message = chat_error_text(error);
  require(is_utf8(message));
  require(message.find('\x1B') == std::string::npos);
  require(!error.message().empty());
}

void check_runs(const ChatText& prompt) {
  std::uint64_t end = 0;
  for (const ChatRun& run : prompt.runs) {
    require(run.offset_bytes == end && run.size_bytes > 0);
    end += run.size_bytes;
  }
  require(end == prompt.text.size());
}

/// A model file instead of a template: each template that it names is there, or refused.
void check_model(const std::uint8_t* data, std::size_t size) {
  const auto model = Model::open_memory(std::as_bytes(std::span(data, size)));
  if (!model) return;
  for (const std::string& name : chat_template_names(*model)) {
    const auto compiled = ChatTemplate::make(*model, name);
    if (!compiled) check_error(compiled.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_model(data, size);
  const std::string source(reinterpret_cast<const char*>(data), size);
  const auto compiled = ChatTemplate::make(source, "fuzzed");
  if (!compiled) {
    check_error(compiled.error());
    return 0;
  }
  require(compiled->source() == source);
  static const ChatValue messages = conversation();
  require(!has_parts(join_parts(messages)));
  static const ChatValue tools = ChatValue::list({ChatValue::object({{"name", "f"}})});
  const ChatOptions options = small_options();
  const std::clock_t begin = std::clock();
  const auto first = compiled->render(messages, tools, options);
  const auto second = compiled->render(messages, tools, options);
  // 100 us for each of 20,000 steps: a hundred times what they take without sanitizers.
  require((std::clock() - begin) / CLOCKS_PER_SEC < 4);
  require(first.has_value() == second.has_value());
  if (!first) {
    check_error(first.error());
    require(first.error().detail == second.error().detail);
    return 0;
  }
  require(first->text == second->text);
  check_runs(*first);
  return 0;
}
