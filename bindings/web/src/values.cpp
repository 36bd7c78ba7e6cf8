// SPDX-License-Identifier: MIT
#include "values.hpp"

#include <cstring>
#include <string>

namespace ingot::web {
namespace {

/// Deeper than any conversation; a template refuses the same.
constexpr unsigned most_levels = 500;

/// The writer is of this package, so that nothing but the depth can be wrong.
class Reader {
 public:
  explicit Reader(const char* next) : next_(next) {}

  [[nodiscard]] bool is_too_deep() const { return is_too_deep_; }

  ChatValue value(unsigned levels) {
    is_too_deep_ = is_too_deep_ || levels > most_levels;
    if (is_too_deep_) return {};
    switch (*next_++) {
      case 't':
        return true;
      case 'f':
        return false;
      case 'i':
        return take<std::int64_t>();
      case 'r':
        return take<double>();
      case 'd':
        return ChatValue::Digits{text()};
      case 's':
        return text();
      case 'l': {
        ChatValue list = ChatValue::list();
        for (auto count = take<std::uint32_t>(); count > 0; --count) list.add(value(levels + 1));
        return list;
      }
      case 'o': {
        ChatValue object = ChatValue::object();
        for (auto count = take<std::uint32_t>(); count > 0; --count) {
          ++next_;  // the letter of a text
          std::string name = text();
          object.add(std::move(name), value(levels + 1));
        }
        return object;
      }
      default:
        return {};
    }
  }

 private:
  template <class Number>
  Number take() {
    Number number;
    std::memcpy(&number, next_, sizeof number);
    next_ += sizeof number;
    return number;
  }

  std::string text() {
    const auto size = take<std::uint32_t>();
    next_ += size;
    return {next_ - size, size};
  }

  const char* next_;
  bool is_too_deep_ = false;
};

}  // namespace

Result<ChatValue> read_value(std::span<const char> bytes) {
  Reader reader(bytes.data());
  ChatValue value = reader.value(0);
  if (reader.is_too_deep()) {
    return fail(Errc::invalid_argument, "messages",
                "nested deeper than " + std::to_string(most_levels) + " levels");
  }
  return value;
}

}  // namespace ingot::web
