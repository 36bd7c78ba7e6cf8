// SPDX-License-Identifier: MIT
// A JSON document, written as it is made: no element is ever held.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/output.hpp"

namespace ingot::cli {

/// The layout of a container: each member on a line of its own, or everything on one line.
enum class Layout : std::uint8_t { lines, line };

/// Writes one JSON document. What is inside a container on one line is on that line too.
///
/// Every character that could drive a terminal (controls, bidirectional marks, invisible ones) is
/// written as \u escape, so that the document is safe to look at.
class JsonStream {
 public:
  explicit JsonStream(Output& out) : out_(out) {}
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;

  void begin_object(Layout layout = Layout::lines) { begin('{', '}', layout); }
  void begin_array(Layout layout = Layout::lines) { begin('[', ']', layout); }
  /// Begins an object as the value of a member.
  void begin_object(std::string_view name, Layout layout = Layout::lines) {
    key(name);
    begin_object(layout);
  }
  void begin_array(std::string_view name, Layout layout = Layout::lines) {
    key(name);
    begin_array(layout);
  }

  /// A container that ends with the block that its variable is in.
  class [[nodiscard]] Scope {
   public:
    explicit Scope(JsonStream& json) noexcept : json_(json) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() noexcept(false) { json_.end(); }  // end may run out of memory

   private:
    JsonStream& json_;
  };
  template <class... Arguments>
  Scope object(const Arguments&... as_begin_object) {
    begin_object(as_begin_object...);
    return Scope(*this);
  }
  template <class... Arguments>
  Scope array(const Arguments&... as_begin_array) {
    begin_array(as_begin_array...);
    return Scope(*this);
  }

  /// Ends the innermost container; the end of the outermost one ends the document. The last members
  /// of the output (Output::write_last_members) end the document if it is an object, and the last
  /// element of one that is a list of objects.
  void end();

  /// False once the reader of the output has gone.
  [[nodiscard]] bool is_open() const noexcept { return out_.is_open(); }

  /// Names the next value of an object.
  void key(std::string_view name);

  void null();
  void value(std::nullptr_t) { null(); }
  void value(std::same_as<bool> auto flag) { boolean(flag); }
  void value(std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>) {
    unsigned_number(number);
  }
  void value(std::signed_integral auto number) { signed_number(number); }
  /// Shortest digits that give the same double; NaN and infinities become strings.
  void value(double number);
  /// Bytes that are not UTF-8 become U+FFFD; ask `is_utf8` first where they matter.
  void value(std::string_view text);
  template <class T>
  void value(const std::optional<T>& maybe) {
    maybe.has_value() ? value(*maybe) : null();
  }
  /// A string of base64 digits.
  void base64(std::span<const std::byte> bytes);

  template <class T>
  void member(std::string_view name, const T& member_value) {
    key(name);
    value(member_value);
  }
  /// A member that is null unless `is_known`.
  template <class T>
  void member_if(bool is_known, std::string_view name, const T& member_value) {
    is_known ? member(name, member_value) : member(name, nullptr);
  }
  /// A member that is null if the text is empty.
  void text_or_null(std::string_view name, std::string_view text) {
    member_if(!text.empty(), name, text);
  }
  /// A member that is a text; if it is not UTF-8, its bytes as `NAME_base64`.
  void text_or_base64(std::string_view name, std::string_view text);

  /// A member that is an array of values.
  template <class Values>
  void values(std::string_view name, const Values& elements, Layout layout = Layout::lines) {
    begin_array(name, layout);
    for (const auto& element : elements) value(element);
    end();
  }

  /// An array of objects, each on a line of its own, whose members `write_members(item)` writes.
  /// `items` is a range, or how many there are: then each is its position. Ends early where the
  /// reader of the output has gone.
  template <class Items, class WriteMembers>
  void objects(const Items& items, const WriteMembers& write_members) {
    const auto write_one = [&](const auto& item) {
      begin_object(Layout::line);
      write_members(item);
      end();
    };
    begin_array();
    if constexpr (std::unsigned_integral<Items>) {
      for (Items i = 0; i < items && is_open(); ++i) write_one(i);
    } else {
      for (auto item = std::begin(items); item != std::end(items) && is_open(); ++item) {
        write_one(*item);
      }
    }
    end();
  }
  /// Writes a list of objects as the value of a member.
  template <class Items, class WriteMembers>
  void objects(std::string_view name, const Items& items, const WriteMembers& write_members) {
    key(name);
    objects(items, write_members);
  }

 private:
  struct Level {
    char close;
    Layout layout;
    bool is_empty = true;
  };

  void begin(char open, char close, Layout layout);
  void close();
  void start_value();
  void new_line(std::size_t depth);
  void quoted(std::string_view text);
  void escaped(std::string_view text);
  void boolean(bool flag);
  void unsigned_number(std::uint64_t number);
  void signed_number(std::int64_t number);

  Output& out_;
  std::vector<Level> levels_;
  bool has_key_ = false;
  bool has_open_element_ = false;  ///< An object of the list has ended, unless it is the last one.
};

}  // namespace ingot::cli
