// SPDX-License-Identifier: MIT
// Reads vocabularies of lines: those of RWKV World and PLaMo 2.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/ranked_tokens.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"

namespace ingot::huggingface {
namespace {

void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](unsigned shift) { add(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12);
    add_rest(6);
  } else {
    add(0xF0 | code_point >> 18);
    add_rest(12);
    add_rest(6);
  }
  add_rest(0);
}

std::optional<std::uint32_t> take_hex(std::string_view& text, std::size_t digits) {
  std::uint32_t number = 0;
  if (text.size() < digits) return std::nullopt;
  const char* const end = text.data() + digits;
  const auto read = std::from_chars(text.data(), end, number, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

/// Takes what follows a backslash in a literal of Python; false for an unknown escape.
bool take_escape(std::string_view& rest, bool is_bytes, std::string& bytes) {
  constexpr std::string_view letters = "\\'\"abfnrtv";
  constexpr std::string_view meanings = "\\'\"\a\b\f\n\r\t\v";
  if (rest.empty()) return false;
  const char letter = rest.front();
  rest.remove_prefix(1);
  if (const std::size_t place = letters.find(letter); place != letters.npos) {
    bytes += meanings[place];
    return true;
  }
  const std::size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0 || (is_bytes && digits != 2)) return false;
  const auto number = take_hex(rest, digits);
  if (!number || *number > 0x10FFFF) return false;
  if (is_bytes) {
    bytes += static_cast<char>(*number);
  } else {
    append_utf8(bytes, *number);
  }
  return true;
}

/// The bytes of a literal of Python: '...' or "...", with a `b` in front for bytes.
std::optional<std::string> read_literal(std::string_view literal) {
  const bool is_bytes = literal.starts_with('b');
  if (is_bytes) literal.remove_prefix(1);
  if (literal.size() < 2 || (literal.front() != '\'' && literal.front() != '"') ||
      literal.front() != literal.back()) {
    return std::nullopt;
  }
  const char quote = literal.front();
  std::string_view rest = literal.substr(1, literal.size() - 2);
  std::string bytes;
  while (!rest.empty()) {
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == quote) return std::nullopt;
    if (letter != '\\') {
      bytes += letter;
    } else if (!take_escape(rest, is_bytes, bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

/// Bytes as Python prints them, without the quotes.
std::string printed(std::string_view bytes) {
  constexpr std::string_view hex = "0123456789abcdef";
  // A literal with single quotes alone has double quotes around it, and escapes none.
  const bool escapes_quote = bytes.find('"') != bytes.npos;
  std::string text;
  for (const char letter : bytes) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\\' || (letter == '\'' && escapes_quote)) {
      text.append("\\").append(1, letter);
    } else if (letter == '\t' || letter == '\n' || letter == '\r') {
      text.append(letter == '\t' ? "\\t" : letter == '\n' ? "\\n" : "\\r");
    } else if (byte < 0x20 || byte >= 0x7F) {
      text.append("\\x").append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
    } else {
      text += letter;
    }
  }
  return text;
}

Failure not_a_token(const std::string& file, std::size_t line, const char* expected) {
  return refuse(file, "line " + std::to_string(line) + ": " + expected + " is expected");
}

}  // namespace

Result<TokenList> read_rwkv_tokens(const TokenizerFiles& files, const Config& config) {
  constexpr std::uint64_t usual_size = 65536;
  const std::string file = files.folder->locate(rwkv_file);
  INGOT_TRY(const std::string content, files.folder->read_text(rwkv_file, max_table_bytes));
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  INGOT_TRY(const std::size_t count, bounded_count(wanted.value_or(usual_size), "vocab_size"));
  TokenList tokens;
  const auto add = [&](std::string text, TokenKind kind) {
    tokens.texts.push_back(std::move(text));
    tokens.kinds.push_back(static_cast<std::int32_t>(kind));
  };
  add("<s>", TokenKind::control);
  std::string_view text = content;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = take_part(text, '\n');
    if (rest.ends_with('\r')) rest.remove_suffix(1);
    static_cast<void>(take_part(rest, ' '));  // the number
    const std::size_t space = rest.rfind(' ');
    const auto bytes = space == rest.npos ? std::nullopt : read_literal(rest.substr(0, space));
    const auto length =
        space == rest.npos ? std::nullopt : parse_number<std::size_t>(rest.substr(space + 1));
    if (!bytes || length != bytes->size()) {
      return not_a_token(file, line, "a number, a literal of Python and its length");
    }
    if (tokens.size() >= count) {
      return refuse(file, "it has more tokens than vocab_size, " + std::to_string(count));
    }
    add(printed(*bytes), TokenKind::normal);
  }
  while (tokens.size() < count) {
    add("[PAD" + std::to_string(tokens.size()) + "]", TokenKind::unused);
  }
  return tokens;
}

Result<TokenList> read_plamo_tokens(const TokenizerFiles& files, const Config& config) {
  constexpr float padding_score = -1000;
  const std::string file = files.folder->locate(plamo_file);
  INGOT_TRY(const std::string content, files.folder->read_text(plamo_file, max_table_bytes));
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  INGOT_TRY(const std::size_t count, bounded_count(wanted.value_or(0), "vocab_size"));
  TokenList tokens;
  std::string_view text = content;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view one = take_part(text, '\n');
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    INGOT_TRY(const nlohmann::json entry, parse_json(one, file));
    if (!entry.is_array() || entry.size() < 2 || !entry[0].is_string() || !entry[1].is_number() ||
        (entry.size() > 2 && !entry[2].is_string())) {
      return not_a_token(file, line, "a list of text, score and kind");
    }
    INGOT_TRY_VOID(bounded_count(tokens.size() + 1, "the tokens"));
    const auto& token = entry[0].get_ref<const std::string&>();
    const std::string kind = entry.size() > 2 ? entry[2].get<std::string>() : "NORMAL";
    const bool is_control =
        kind == "CONTROL" || (token.starts_with("<|plamo:") && token.ends_with("|>"));
    tokens.add(token, static_cast<float>(entry[1].get<double>()),
               kind == "UNKNOWN" ? TokenKind::unknown
               : kind == "BYTE"  ? TokenKind::byte
               : is_control      ? TokenKind::control
                                 : TokenKind::normal);
  }
  for (std::size_t number = 1; tokens.size() < count; ++number) {
    tokens.add("[PAD" + std::to_string(number) + "]", padding_score, TokenKind::unused);
  }
  return tokens;
}

}  // namespace ingot::huggingface
