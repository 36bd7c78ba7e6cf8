// SPDX-License-Identifier: MIT
#include "cli/text_input.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ingot/text.hpp>
#include <utility>

#include "system/system.hpp"

namespace ingot::cli {
namespace {

Failure system_failure(const std::string& name) {
  return fail(Errc::io_error, name, std::strerror(errno));
}

struct Escape {
  char letter;
  char meaning;
};
constexpr Escape escapes[] = {{'n', '\n'},  {'t', '\t'},  {'r', '\r'},
                              {'\\', '\\'}, {'\'', '\''}, {'"', '"'}};

}  // namespace

Result<std::string> resolve_escapes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    const Escape* known = nullptr;
    for (const Escape& one : escapes) {
      if (rest.starts_with(one.letter)) known = &one;
    }
    unsigned byte = 0;
    const bool is_hex =
        rest.size() >= 3 && rest[0] == 'x' &&
        std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3;
    if (known == nullptr && !is_hex) {
      return fail(Errc::invalid_argument, "-e",
                  "\"" + std::string(text.substr(i, 4)) +
                      "\" is no escape; \\n, \\t, \\r, \\\\, \\', \\\" and \\x41 are");
    }
    result += known != nullptr ? known->meaning : static_cast<char>(byte);
    i += known != nullptr ? 1 : 3;
  }
  return result;
}

TextInput TextInput::of_text(std::string text) {
  TextInput input("the text", -1);
  input.size_bytes_ = text.size();
  input.text_ = std::move(text);
  return input;
}

Result<TextInput> TextInput::open(const std::string& path) {
  if (path == "-") return TextInput("standard input", system::standard_input);
  const int descriptor = system::open_file(path);
  if (descriptor < 0) return system_failure(path);
  TextInput input(path, descriptor);
  system::FileFacts facts;
  if (!system::look_at(descriptor, facts)) return system_failure(path);
  if (facts.is_regular) input.size_bytes_ = facts.size_bytes;
  return input;
}

TextInput::TextInput(TextInput&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      text_(std::move(other.text_)),
      begin_(other.begin_),
      size_bytes_(other.size_bytes_) {}

TextInput::~TextInput() {
  if (descriptor_ > system::standard_input) system::close_file(descriptor_);
}

Result<std::size_t> TextInput::read(std::span<char> buffer) {
  if (descriptor_ < 0) {
    const std::size_t count = std::min(buffer.size(), text_.size() - begin_);
    text_.copy(buffer.data(), count, begin_);
    begin_ += count;
    return count;
  }
  const std::ptrdiff_t count = system::read_next(descriptor_, buffer.data(), buffer.size());
  if (count < 0) return system_failure(name_);
  return static_cast<std::size_t>(count);
}

Result<std::string> TextInput::read_all(std::size_t max_bytes) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 16;
  std::string all;
  for (;;) {
    const std::size_t old_bytes = all.size();
    all.resize(old_bytes + piece_bytes);
    INGOT_TRY(const std::size_t count, read(std::span(all).subspan(old_bytes)));
    all.resize(old_bytes + count);
    if (count == 0) return all;
    if (all.size() > max_bytes) {
      return fail(Errc::limit_exceeded, name_, "it has more than " + format_bytes(max_bytes));
    }
  }
}

}  // namespace ingot::cli
