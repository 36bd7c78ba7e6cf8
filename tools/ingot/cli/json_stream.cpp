// SPDX-License-Identifier: MIT
#include "cli/json_stream.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ingot/text.hpp>
#include <utility>

namespace ingot::cli {
namespace {

/// Whether JSON takes a byte as it is and no terminal minds it.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = ' '; byte <= '~'; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return plain_bytes[static_cast<unsigned char>(c)]; });
}

/// Writes a short plain text in quotes, and what follows it, in one piece: nearly all names and
/// types of a long listing are such. False for any other text, of which nothing is written.
bool write_short(Output& out, std::string_view text, std::string_view end) {
  std::array<char, 64> piece;
  if (text.size() + end.size() >= piece.size() || !is_plain_ascii(text)) return false;
  piece[0] = '"';
  text.copy(piece.data() + 1, text.size());
  end.copy(piece.data() + 1 + text.size(), end.size());
  out.write({piece.data(), 1 + text.size() + end.size()});
  return true;
}

template <class Integer>
void write_digits(Output& out, Integer number) {
  std::array<char, 24> digits;  // more than any integer of 64 bits has
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.write({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
    if (is_utf8(text.substr(0, size))) return size;
  }
  return 0;
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(character[i]); };
  if (character.size() == 1) return byte(0);
  std::uint32_t result = byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) result = result << 6 | (byte(i) & 0x3fu);
  return result;
}

}  // namespace

void JsonStream::end() {
  const bool is_element =
      levels_.size() == 2 && levels_.front().close == ']' && levels_.back().close == '}';
  if (is_element && !has_open_element_ && out_.write_last_members) {
    has_open_element_ = true;  // only the next call shows whether it is the last
    return;
  }
  const bool is_last = has_open_element_ || (levels_.size() == 1 && levels_.back().close == '}');
  const bool ends_list = std::exchange(has_open_element_, false);
  if (is_last && out_.write_last_members) out_.write_last_members(*this);
  if (ends_list) close();
  close();
}

void JsonStream::close() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty && level.layout == Layout::lines) new_line(levels_.size());
  out_.put(level.close);
  if (levels_.empty()) out_.put('\n');
}

void JsonStream::key(std::string_view name) {
  start_value();
  has_key_ = true;
  if (write_short(out_, name, "\": ")) return;
  quoted(name);
  out_.write(": ");
}

void JsonStream::null() {
  start_value();
  out_.write("null");
}

void JsonStream::value(double number) {
  if (std::isnan(number)) return value(std::string_view("NaN"));
  if (std::isinf(number)) return value(std::string_view(number < 0 ? "-Infinity" : "Infinity"));
  start_value();
  const std::string digits = fmt::format("{}", number);
  out_.write(digits);
  // A reader that tells integers from floats should see a float.
  if (digits.find_first_of(".e") == std::string::npos) out_.write(".0");
}

void JsonStream::value(std::string_view text) {
  start_value();
  quoted(text);
}

void JsonStream::base64(std::span<const std::byte> bytes) {
  constexpr std::size_t piece_bytes = 3 << 12;  // whole groups of three
  start_value();
  out_.put('"');
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(piece_bytes, bytes.size()));
    out_.write(base64_encode(piece));
    bytes = bytes.subspan(piece.size());
  }
  out_.put('"');
}

void JsonStream::text_or_base64(std::string_view name, std::string_view text) {
  if (is_utf8(text)) return member(name, text);
  key(std::string(name) + "_base64");
  base64(std::as_bytes(std::span(text)));
}

void JsonStream::begin(char open, char close, Layout layout) {
  start_value();
  if (!levels_.empty() && levels_.back().layout == Layout::line) layout = Layout::line;
  out_.put(open);
  levels_.push_back({close, layout});
}

void JsonStream::start_value() {
  if (std::exchange(has_open_element_, false)) close();
  if (has_key_) {
    has_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.is_empty) out_.put(',');
  if (level.layout == Layout::lines) {
    new_line(levels_.size());
  } else if (!level.is_empty) {
    out_.put(' ');
  }
  level.is_empty = false;
}

void JsonStream::new_line(std::size_t depth) {
  out_.put('\n');
  for (std::size_t i = 0; i < depth; ++i) out_.write("  ");
}

void JsonStream::quoted(std::string_view text) {
  if (write_short(out_, text, "\"")) return;
  out_.put('"');
  // `escape` knows which characters are unsafe to show; text that it does not change can be written
  // as it is.
  const bool is_safe =
      is_plain_ascii(text) || (text.find('"') == std::string_view::npos && escape(text) == text);
  is_safe ? out_.write(text) : escaped(text);
  out_.put('"');
}

void JsonStream::escaped(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    const std::string_view character = text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
    if (size == 0) {
      out_.write("\\ufffd");
    } else if (character == "\"" || character == "\\") {
      out_.put('\\');
      out_.write(character);
    } else if (character == "\n") {
      out_.write("\\n");
    } else if (character == "\t") {
      out_.write("\\t");
    } else if (escape(character) == character) {
      out_.write(character);
    } else if (const std::uint32_t code = code_point(character); code < 0x10000) {
      out_.print("\\u{:04x}", code);
    } else {  // JSON writes these as a pair of surrogates
      out_.print("\\u{:04x}\\u{:04x}", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
    }
  }
}

void JsonStream::boolean(bool flag) {
  start_value();
  out_.write(flag ? "true" : "false");
}

void JsonStream::unsigned_number(std::uint64_t number) {
  start_value();
  write_digits(out_, number);
}

void JsonStream::signed_number(std::int64_t number) {
  start_value();
  write_digits(out_, number);
}

}  // namespace ingot::cli
