// SPDX-License-Identifier: MIT
// Standard output, buffered, with its failures noticed.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace ingot::cli {

class JsonStream;

/// Collects text and writes it to a descriptor, or elsewhere, in large pieces. After the first
/// failure, which is kept, output is dropped. A command may ask `is_open` in long loops, but need
/// not.
class Output {
 public:
  /// Takes a large piece of text; returns 0 or an errno.
  using Writer = std::function<int(std::string_view text)>;

  /// Where text goes, and the first failure there.
  struct Target {
    Writer writer;
    int error_number = 0;  ///< An errno, or 0.
  };

  explicit Output(int descriptor);
  explicit Output(Writer writer) : target_{std::move(writer)} {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    buffer_.append(text);
    flush_if_full();
  }

  void put(char character) {
    buffer_.push_back(character);
    flush_if_full();
  }

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    flush_if_full();
  }

  /// Writes what is buffered, and hands all further text to `target`; returns the one before, to be
  /// given back: a failure of one is none of the other.
  Target divert(Target target) {
    flush();
    return std::exchange(target_, std::move(target));
  }

  /// False once a write has failed: later output is lost.
  [[nodiscard]] bool is_open() const noexcept { return target_.error_number == 0; }

  /// The members that every JSON document ends with if it is an object; or nothing.
  std::function<void(JsonStream& json)> write_last_members;

  /// Writes the buffered bytes. Returns the errno of the first failure so far, or 0.
  int flush() noexcept;

 private:
  static constexpr std::size_t capacity_bytes = std::size_t{1} << 16;

  void flush_if_full() {
    if (buffer_.size() >= capacity_bytes) flush();
  }

  Target target_;
  std::string buffer_;
};

}  // namespace ingot::cli
