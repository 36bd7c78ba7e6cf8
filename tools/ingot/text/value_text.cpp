// SPDX-License-Identifier: MIT
#include "text/value_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <ingot/text.hpp>
#include <string_view>
#include <vector>

namespace ingot::cli {
namespace {

/// A scalar, its text cut to `columns` if it is a string.
std::string scalar_text(const Value& value, std::size_t columns) {
  std::string text;
  visit_scalar(value, [&](auto scalar) {
    using T = decltype(scalar);
    if constexpr (std::same_as<T, std::string_view>) {
      text = "\"" + escape_shortened(scalar, std::max<std::size_t>(columns, 5) - 2) + "\"";
    } else if constexpr (std::floating_point<T>) {
      text = format_float(scalar);
    } else {
      text = fmt::format("{}", scalar);
    }
  });
  return text;
}

std::string array_heading(const Array& array) {
  return fmt::format("[{} x {}]", name_of(array.element_type()), array.size());
}

/// Goes through an array and the arrays in it. Without recursion: how deep they nest is the file's
/// choice.
template <class Visitor>
void walk(const Array& outermost, Visitor& visitor) {
  struct Level {
    Array array;
    Array::Iterator next;
  };
  std::vector<Level> levels;
  const auto enter = [&](const Array& array) {
    visitor.begin();
    levels.push_back({array, array.begin()});
  };
  enter(outermost);
  while (!levels.empty() && visitor.is_open()) {
    Level& level = levels.back();
    if (level.next == level.array.end()) {
      visitor.end();
      levels.pop_back();
      continue;
    }
    const Value value = *level.next;
    ++level.next;
    value.is_array() ? enter(value.as_array()) : visitor.scalar(value);
  }
}

class TextVisitor {
 public:
  explicit TextVisitor(Output& out) : out_(out) {}
  [[nodiscard]] bool is_open() const { return out_.is_open(); }
  void begin() {
    separate();
    out_.put('[');
    is_first_ = true;
  }
  void end() {
    out_.put(']');
    is_first_ = false;
  }
  void scalar(const Value& value) {
    separate();
    print_value(out_, value);
  }

 private:
  void separate() {
    if (!is_first_) out_.write(", ");
    is_first_ = false;
  }

  Output& out_;
  bool is_first_ = true;
};

void write_scalar(JsonStream& json, const Value& value) {
  visit_scalar(value, [&](auto scalar) { json.value(scalar); });
}

bool is_text(const Value& value) {
  return value.type() != ValueType::string ||
         is_utf8(value.get<std::string_view>().value_or(std::string_view{}));
}

class JsonVisitor {
 public:
  JsonVisitor(JsonStream& json) : json_(json) {}
  [[nodiscard]] bool is_open() const { return json_.is_open(); }
  void begin() { json_.begin_array(Layout::line); }
  void end() { json_.end(); }
  void scalar(const Value& value) {
    if (is_text(value)) return write_scalar(json_, value);
    const auto object = json_.object(Layout::line);
    json_.key("base64");
    json_.base64(value.bytes());
  }

 private:
  JsonStream& json_;
};

}  // namespace

std::string type_text(TensorType type) {
  if (const TensorTypeInfo* info = find_type(type)) return std::string(info->name);
  const std::string_view removed = removed_type_name(type);
  if (!removed.empty()) return fmt::format("removed {}", removed);
  return fmt::format("unknown ({})", static_cast<std::uint32_t>(type));
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text;  // not joined(), as listings make one for each of 100,000 tensors
  for (const std::uint64_t dimension : shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(dimension);
  }
  return text;
}

std::string short_value_text(const Value& value, std::size_t columns) {
  if (!value.is_array()) return scalar_text(value, columns);
  static constexpr std::string_view more = ", ...";
  const Array array = value.as_array();
  std::string text = array_heading(array);
  std::size_t used = text.size();
  std::size_t shown = 0;
  for (const Value element : array) {
    // A longer string is cut, as nobody reads more of it in a list.
    const std::string item =
        element.is_array() ? array_heading(element.as_array()) : scalar_text(element, 24);
    const std::string_view separator = shown == 0 ? " " : ", ";
    const std::size_t reserve = shown + 1 < array.size() ? more.size() : 0;
    const std::size_t item_columns = separator.size() + display_columns(item);
    if (used + item_columns + reserve > columns) break;
    text.append(separator).append(item);
    used += item_columns;
    ++shown;
  }
  if (shown < array.size()) text += shown == 0 ? " ..." : more;
  return text;
}

void print_value(Output& out, const Value& value) {
  if (value.is_array()) {
    TextVisitor visitor(out);
    return walk(value.as_array(), visitor);
  }
  visit_scalar(value, [&](auto scalar) {
    using T = decltype(scalar);
    if constexpr (std::same_as<T, std::string_view>) {
      out.put('"');
      out.write(escape(scalar));
      out.put('"');
    } else if constexpr (std::floating_point<T>) {
      out.write(format_float(scalar));
    } else {
      out.print("{}", scalar);
    }
  });
}

void write_value_member(JsonStream& json, const Value& value, std::string_view prefix) {
  const std::string name = std::string(prefix) + "value";
  if (!is_text(value)) {
    json.key(name + "_base64");
    return json.base64(value.bytes());
  }
  json.key(name);
  if (!value.is_array()) return write_scalar(json, value);
  JsonVisitor visitor(json);
  walk(value.as_array(), visitor);
}

}  // namespace ingot::cli
