// SPDX-License-Identifier: MIT
#include "commands/chat/chat_output.hpp"

#include <ingot/text.hpp>
#include <string>

#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "text/joined.hpp"

namespace ingot::cli {
namespace {

std::string_view origin_of(const ChatRun& run) { return run.is_input ? "input" : "template"; }

std::string_view text_of(const ChatText& prompt, const ChatRun& run) {
  return std::string_view(prompt.text).substr(run.offset_bytes, run.size_bytes);
}

}  // namespace

void print_runs(Console& console, const ChatText& prompt) {
  constexpr std::size_t origin_columns = 10;
  for (const ChatRun& run : prompt.runs) {
    const Style style = run.is_input ? Style::accent : Style::plain;
    const std::string text = escape(text_of(prompt, run));
    console.out().print("{}{}{}\n",
                        console.paint(Style::faint, padded(origin_of(run), origin_columns)),
                        console.paint(style, text),
                        run.is_generated ? console.paint(Style::good, "  (generated)") : "");
  }
}

void print_ids(Console& console, const ChatTokens& tokens) {
  console.out().print("{}\n", joined(tokens.ids));
}

void print_chat_json(Console& console, std::string_view template_name, const ChatText& prompt,
                     const ChatTokens* tokens) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("template", template_name);
  json.text_or_base64("prompt", prompt.text);
  json.objects("runs", prompt.runs, [&](const ChatRun& run) {
    json.member("offset", run.offset_bytes);
    json.member("bytes", run.size_bytes);
    json.member("origin", origin_of(run));
    json.member("generated", run.is_generated);
  });
  if (tokens != nullptr) {
    json.values("ids", tokens->ids, Layout::line);
    // Nothing is added around the template's own bos and eos.
    json.member("adds_special", false);
    json.values("generated", tokens->is_generated, Layout::line);
  }
}

}  // namespace ingot::cli
