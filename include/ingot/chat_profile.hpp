// SPDX-License-Identifier: MIT
// The features of a chat template, and its faults.
//
//   const auto chat = ingot::ChatTemplate::make(*model);
//   const ingot::ChatProfile profile = ingot::profile_chat(*chat);
//   if (profile.supports(ingot::ChatFeature::tools)) offer_tools();
//   for (const ingot::ChatRemark& remark : ingot::lint_chat(*chat)) print(remark.text);
//
// Link ingot::text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/chat.hpp"
#include "ingot/export.h"

namespace ingot {

enum class ChatFeature : std::uint8_t {
#define INGOT_CHAT_FEATURE(enumerator, name, description) enumerator,
#include "ingot/chat_features.def"
};

inline constexpr std::size_t chat_feature_count = 0
#define INGOT_CHAT_FEATURE(enumerator, name, description) +1
#include "ingot/chat_features.def"
    ;

/// "system", "tool calls", ...; static.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(ChatFeature feature) noexcept;

/// A conversation that a template does not take.
struct ChatRefusal {
  std::string_view conversation;  ///< "a system message", ...; static.
  std::string reason;             ///< The template's own words, or the description of the failure.
  /// Errc::chat_raised if the template refuses it; else the error of rendering.
  Errc code = Errc::chat_raised;
  bool is_plain = false;  ///< A conversation that callers take for granted.
};

/// The form in which arguments of tool calls must be given.
enum class ChatArguments : std::uint8_t { any, object, text };

/// The behaviour of a template with conversations.
struct ChatProfile {
  std::array<bool, chat_feature_count> features = {};
  /// Why not even a plain conversation renders; nothing if one does.
  std::optional<Error> failure;
  /// A conversation took more than its share of steps, output or memory: the template's result is
  /// unknown.
  bool reached_limit = false;
  /// The texts of the user and the assistant of a plain conversation are in the prompt.
  bool keeps_text = false;
  /// Conversations with a system message render, and its text is not in the prompt.
  bool drops_system = false;
  /// An answer in a conversation begins with text of its own (`answer_begin`), and the prompt for
  /// an answer is the same with a generation prompt and without.
  bool lacks_generation_prompt = false;
  /// Plain conversations that fail, where others render.
  std::vector<ChatRefusal> refusals;
  ChatArguments arguments = ChatArguments::any;
  /// The fate of a message that is a list of parts, unless its text is in the prompt: a sentence.
  std::string parts_problem;
  /// Text is in the prompt only if messages are lists of parts.
  bool needs_parts = false;
  /// The prompt for the next answer begins with the prompt for the last one and that answer.
  bool keeps_beginning = true;
  bool depends_on_date = false;
  /// The name of the prompt format, one of prompt_formats.def: "ChatML", "Llama 3"; static. Empty
  /// if it has none, or if a plain conversation does not render.
  std::string_view format;
  std::string prompt;        ///< The prompt for the answer to one message of a user.
  std::string answer_begin;  ///< The template's text before an answer; empty if unknown.
  std::string answer_end;    ///< The template's text after the last answer; empty if unknown.

  [[nodiscard]] bool supports(ChatFeature feature) const noexcept {
    return features[static_cast<std::size_t>(feature)];
  }
};

/// Renders some thirty small conversations, each within limits so small that every template, also
/// one that is made to take long, ends in a tenth of a second; `reached_limit` tells of it.
[[nodiscard]] INGOT_EXPORT ChatProfile profile_chat(const ChatTemplate& chat);

/// Something in the source of a template.
struct ChatRemark {
  enum class Kind : std::uint8_t {
    unknown_name,  ///< A filter, test or function that does not exist.
    forbidden,     ///< The sandbox refuses it: a method that writes, an internal attribute.
    minja,         ///< The engine minja cannot run it.
    javascript     ///< The engine huggingface/jinja of JavaScript cannot run it.
  };
  Kind kind = Kind::unknown_name;
  std::uint32_t line = 0;    ///< Counted from 1.
  std::uint32_t column = 0;  ///< Characters, from 1.
  std::string text;          ///< The subject; safe to print.
};

/// The facts that the source shows without running, in its order; each fact once. Linear in the
/// source.
[[nodiscard]] INGOT_EXPORT std::vector<ChatRemark> lint_chat(const ChatTemplate& chat);

/// Texts in the template's own words that look like control tokens: `<|im_end|>`, `<end_of_turn>`,
/// `[INST]`; each once.
[[nodiscard]] INGOT_EXPORT std::vector<std::string> control_texts(const ChatTemplate& chat);

}  // namespace ingot
