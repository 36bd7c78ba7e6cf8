// SPDX-License-Identifier: MIT
// Turns the messages of a conversation into token ids, such that no input can forge a control
// token.
//
//   const auto chat = ingot::ChatTemplate::make(*model);
//   const auto tokenizer = ingot::Tokenizer::make(*model);
//   const auto prompt = ingot::encode_chat(*tokenizer, *chat, messages);
//   if (!prompt) return report(prompt.error().message());
//   run(prompt->ids);
//
// Link ingot::text.
#pragma once

#include <cstdint>
#include <vector>

#include "ingot/chat.hpp"
#include "ingot/export.h"
#include "ingot/tokenizer.hpp"

namespace ingot {

/// The way in which the text of inputs (messages, tools) becomes tokens.
enum class InputTokens : std::uint8_t {
  /// Control tokens come from the template alone: a `<|im_end|>` in a message is plain text. Other
  /// tokens may hold the end of the template's text and the beginning of an input, as in training.
  plain,
  apart,   ///< Works like `plain`, and each run is encoded separately, so that no token
           ///< holds bytes of both. A run behind text continues it: no space is put before.
  trusted  ///< A control token in a message is one, as in Hugging Face's `apply_chat_template`.
};

struct EncodeChatOptions {
  InputTokens inputs = InputTokens::plain;
  /// Add bos and eos where the file wants them, unless the template has written them. Off by
  /// default, as in training: templates write these tokens themselves.
  bool adds_special = false;
};

/// A prompt as a model takes it.
struct ChatTokens {
  std::vector<TokenId> ids;
  /// Tells for each id whether it holds bytes from inside of {% generation %}, which the assistant
  /// wrote. Hugging Face calls this the assistant mask. Empty if the template marks nothing.
  std::vector<bool> is_generated;
  ChatText text;  ///< The text behind the ids.
};

/// The ids of a text that a template has rendered.
///
/// @return  the errors of Tokenizer::encode. Linear in the text. Thread-safe.
[[nodiscard]] INGOT_EXPORT Result<ChatTokens> encode_chat_text(
    const Tokenizer& tokenizer, ChatText text, const EncodeChatOptions& options = {});

/// Renders a conversation and encodes the prompt: `render` and `encode_chat_text` in one.
///
/// @return  the error of `render`, or that of encoding, which has no place in the template.
[[nodiscard]] INGOT_EXPORT Result<ChatTokens> encode_chat(
    const Tokenizer& tokenizer, const ChatTemplate& chat, const ChatValue& messages,
    const ChatValue& tools = {}, const ChatOptions& options = {},
    const EncodeChatOptions& encode_options = {});

}  // namespace ingot
