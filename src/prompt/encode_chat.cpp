// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "ingot/chat_prompt.hpp"

namespace ingot {
namespace {

bool has_generated(const ChatText& text) noexcept {
  return std::ranges::any_of(text.runs, &ChatRun::is_generated);
}

ByteRange range_of(const ChatRun& run) noexcept {
  return {static_cast<std::size_t>(run.offset_bytes),
          static_cast<std::size_t>(run.offset_bytes + run.size_bytes)};
}

/// The parts of the text that came from inputs.
std::vector<ByteRange> input_ranges(const ChatText& text) {
  std::vector<ByteRange> ranges;
  for (const ChatRun& run : text.runs) {
    if (run.is_input) ranges.push_back(range_of(run));
  }
  return ranges;
}

Result<TokenizedText> encode_whole(const Tokenizer& tokenizer, std::string_view text,
                                   const EncodeOptions& options, bool with_ranges) {
  if (with_ranges) return tokenizer.encode_with_offsets(text, options);
  INGOT_TRY(std::vector<TokenId> ids, tokenizer.encode(text, options));
  return TokenizedText{std::move(ids), {}};
}

/// Whether the ids of a part end with a token that was found as a whole and is no text: what
/// follows it begins anew, with a space where the vocabulary puts one before a text.
bool ends_special(const Tokenizer& tokenizer, std::span<const TokenId> ids, bool is_input) {
  const TokenKind kind = tokenizer.kind(ids.back());
  return kind == TokenKind::user_defined || (kind == TokenKind::control && !is_input);
}

/// Encodes each stretch from inputs, and each from the template, separately. A stretch that follows
/// text continues it, as in the whole.
Result<TokenizedText> encode_apart(const Tokenizer& tokenizer, const ChatText& text,
                                   bool with_ranges) {
  TokenizedText all;
  bool begins_anew = true;
  for (std::size_t i = 0; i < text.runs.size();) {
    const bool is_input = text.runs[i].is_input;
    const std::size_t begin = range_of(text.runs[i]).begin;
    std::size_t end = begin;
    for (; i < text.runs.size() && text.runs[i].is_input == is_input; ++i) {
      end = range_of(text.runs[i]).end;
    }
    const EncodeOptions options{
        .add_special = false, .parse_special = !is_input, .continues = !begins_anew};
    const std::string_view part = std::string_view(text.text).substr(begin, end - begin);
    INGOT_TRY(const TokenizedText encoded, encode_whole(tokenizer, part, options, with_ranges));
    all.ids.insert(all.ids.end(), encoded.ids.begin(), encoded.ids.end());
    if (!encoded.ids.empty()) begins_anew = ends_special(tokenizer, encoded.ids, is_input);
    for (const ByteRange& range : encoded.ranges) {
      all.ranges.push_back({begin + range.begin, begin + range.end});
    }
  }
  return all;
}

/// Tells for each id whether it holds a byte of a generated run. Both lists ascend, so one walk is
/// enough.
std::vector<bool> mask_of(std::span<const ByteRange> ranges, std::span<const ChatRun> runs) {
  std::vector<bool> mask;
  mask.reserve(ranges.size());
  auto run = runs.begin();
  for (const ByteRange& range : ranges) {
    while (run != runs.end() && range_of(*run).end <= range.begin) ++run;
    bool is_generated = false;
    // A token without bytes of its own, such as the second token of a split character, counts for
    // the byte at its position.
    const std::size_t end = std::max(range.end, range.begin + 1);
    for (auto at = run; at != runs.end() && range_of(*at).begin < end; ++at) {
      is_generated = is_generated || at->is_generated;
    }
    mask.push_back(is_generated);
  }
  return mask;
}

/// Adds the tokens that the file wants around every text, unless they are there already.
void add_special(const Tokenizer& tokenizer, ChatTokens& tokens) {
  const auto add = [&](bool is_wanted, SpecialToken special, bool is_first) {
    const TokenId id = tokenizer.special(special);
    if (!is_wanted || id == no_token) return;
    auto& ids = tokens.ids;
    if (!ids.empty() && (is_first ? ids.front() : ids.back()) == id) return;
    ids.insert(is_first ? ids.begin() : ids.end(), id);
    auto& mask = tokens.is_generated;
    if (!mask.empty()) mask.insert(is_first ? mask.begin() : mask.end(), false);
  };
  add(tokenizer.flags().adds_bos, SpecialToken::bos, true);
  add(tokenizer.flags().adds_eos, SpecialToken::eos, false);
}

}  // namespace

Result<ChatTokens> encode_chat_text(const Tokenizer& tokenizer, ChatText text,
                                    const EncodeChatOptions& options) {
  const bool with_mask = has_generated(text);
  TokenizedText encoded;
  if (options.inputs == InputTokens::apart) {
    INGOT_TRY(encoded, encode_apart(tokenizer, text, with_mask));
  } else {
    std::vector<ByteRange> plain;
    if (options.inputs == InputTokens::plain) plain = input_ranges(text);
    const EncodeOptions whole{.add_special = false, .parse_special = true, .plain_ranges = plain};
    INGOT_TRY(encoded, encode_whole(tokenizer, text.text, whole, with_mask));
  }
  ChatTokens tokens;
  if (with_mask) tokens.is_generated = mask_of(encoded.ranges, text.runs);
  tokens.ids = std::move(encoded.ids);
  tokens.text = std::move(text);
  if (options.adds_special) add_special(tokenizer, tokens);
  return tokens;
}

Result<ChatTokens> encode_chat(const Tokenizer& tokenizer, const ChatTemplate& chat,
                               const ChatValue& messages, const ChatValue& tools,
                               const ChatOptions& options,
                               const EncodeChatOptions& encode_options) {
  INGOT_TRY(ChatText text, chat.render(messages, tools, options));
  return encode_chat_text(tokenizer, std::move(text), encode_options);
}

}  // namespace ingot
