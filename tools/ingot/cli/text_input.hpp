// SPDX-License-Identifier: MIT
// A text that a user gives: as an argument, in a file, or on standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ingot/error.hpp>
#include <span>
#include <string>
#include <string_view>

namespace ingot::cli {

/// The text with \n \t \r \\ \' \" and \xHH resolved. Errc::invalid_argument for any other escape.
[[nodiscard]] Result<std::string> resolve_escapes(std::string_view text);

class TextInput {
 public:
  /// The bytes of an argument.
  static TextInput of_text(std::string text);
  /// The bytes of a file or a pipe; `-` is standard input.
  static Result<TextInput> open(const std::string& path);

  TextInput(TextInput&& other) noexcept;
  TextInput& operator=(TextInput&&) = delete;
  ~TextInput();

  /// 0 if it is not known before the end.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// The next bytes, and how many they are; 0: the text is over.
  Result<std::size_t> read(std::span<char> buffer);

  /// Reads all remaining text; Errc::limit_exceeded beyond `max_bytes`.
  Result<std::string> read_all(std::size_t max_bytes);

 private:
  TextInput(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

  std::string name_;
  int descriptor_ = -1;  // -1: the text is in memory
  std::string text_;
  std::size_t begin_ = 0;  // offset of the remaining text
  std::uint64_t size_bytes_ = 0;
};

}  // namespace ingot::cli
