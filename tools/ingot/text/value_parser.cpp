// SPDX-License-Identifier: MIT
#include "text/value_parser.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <ingot/text.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_array_depth = 64;  // a file may nest arrays as deep

/// Short names, as other tools have them.
constexpr std::array<std::pair<std::string_view, ValueType>, 13> short_names = {{
    {"u8", ValueType::uint8},
    {"i8", ValueType::int8},
    {"u16", ValueType::uint16},
    {"i16", ValueType::int16},
    {"u32", ValueType::uint32},
    {"i32", ValueType::int32},
    {"u64", ValueType::uint64},
    {"i64", ValueType::int64},
    {"f32", ValueType::float32},
    {"f64", ValueType::float64},
    {"str", ValueType::string},
    {"float", ValueType::float32},
    {"double", ValueType::float64},
}};

Failure refuse(std::string message) { return fail(Errc::invalid_argument, {}, std::move(message)); }

std::string shown(std::string_view text) { return "\"" + escape_shortened(text, 40) + "\""; }

/// Lists and objects are not shown: they can be long.
std::string shown_json(const Json& json) {
  if (json.is_array()) return "an array";
  return json.is_object() ? "an object" : shown(json.dump());
}

Failure refuse_depth() { return refuse("arrays are nested deeper than 64"); }

/// Whether lists and objects are nested deeper than those of any value. Asked before the parser,
/// which takes many times the memory of the text for each level. The library has a function like
/// this one, which the program, a user of the public headers, does not see.
bool is_nested_too_deep(std::string_view text) {
  // Each array may be in an object that names its type, and the elements may be objects.
  constexpr std::size_t max_levels = 2 * max_array_depth + 1;
  std::size_t levels = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (c == '[' || c == '{')) {
      if (++levels > max_levels) return true;
    } else if (!is_in_string && (c == ']' || c == '}')) {
      if (levels-- == 0) return false;  // too deep, so not accepted
    }
  }
  return false;
}

Failure not_a_number(ValueType type, const std::string& found) {
  std::string wanted = is_float(type) ? "a number" : "a whole number";
  if (!is_float(type)) {
    const unsigned bits = 8 * size_bytes_of(type);
    const bool is_signed = name_of(type).starts_with("int");
    const std::uint64_t highest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
    wanted += is_signed ? fmt::format(" from -{} to {}", highest / 2 + 1, highest / 2)
                        : fmt::format(" from 0 to {}", highest);
  }
  return refuse(fmt::format("{} must be {}, not {}", name_of(type), wanted, found));
}

template <class Number>
std::optional<Number> special_float(std::string_view text) {
  if constexpr (std::floating_point<Number>) {
    if (text == "NaN") return std::numeric_limits<Number>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<Number>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<Number>::infinity();
  }
  return std::nullopt;
}

Result<OwnedValue> parse_number(ValueType type, std::string_view text) {
  return with_number_type(type, [&]<class Number>(Number) -> Result<OwnedValue> {
    if (const auto special = special_float<Number>(text)) return OwnedValue::number(*special);
    const auto number = cli::parse_number<Number>(text);
    bool is_number = number.has_value();
    if constexpr (std::floating_point<Number>) {
      is_number = is_number && std::isfinite(*number);  // "inf" is spelled otherwise here
    }
    if (!is_number) return not_a_number(type, shown(text));
    return OwnedValue::number(*number);
  });
}

Result<OwnedValue> number_of(ValueType type, const Json& json) {
  if (json.is_string()) return parse_number(type, json.get_ref<const std::string&>());
  if (!json.is_number()) return not_a_number(type, shown_json(json));
  return with_number_type(type, [&](auto number) -> Result<OwnedValue> {
    using Number = decltype(number);
    if constexpr (std::floating_point<Number>) {
      const double value = json.get<double>();
      if (std::abs(value) > double{std::numeric_limits<Number>::max()}) {
        return not_a_number(type, shown_json(json));
      }
      return OwnedValue::number(static_cast<Number>(value));
    } else {
      const bool fits = json.is_number_unsigned() ? std::in_range<Number>(json.get<std::uint64_t>())
                        : json.is_number_integer() ? std::in_range<Number>(json.get<std::int64_t>())
                                                   : false;
      if (!fits) return not_a_number(type, shown_json(json));
      return OwnedValue::number(json.is_number_unsigned()
                                    ? static_cast<Number>(json.get<std::uint64_t>())
                                    : static_cast<Number>(json.get<std::int64_t>()));
    }
  });
}

Result<OwnedValue> string_of(const Json& json) {
  if (json.is_string()) return OwnedValue::string(json.get_ref<const std::string&>());
  if (json.is_object() && json.size() == 1 && json.contains("base64") &&
      json["base64"].is_string()) {
    const auto bytes = base64_decode(json["base64"].get_ref<const std::string&>());
    if (bytes) {
      return OwnedValue::string({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    }
  }
  return refuse("an element must be a string or {\"base64\": \"...\"}, not " + shown_json(json));
}

Result<OwnedValue> scalar_of(ValueType type, const Json& json) {
  if (type == ValueType::string) return string_of(json);
  if (type != ValueType::boolean) return number_of(type, json);
  if (!json.is_boolean()) return refuse("a bool must be true or false, not " + shown_json(json));
  return OwnedValue::boolean(json.get<bool>());
}

/// The array that an object with its own type stands for.
struct TypedElements {
  ValueSpec spec;
  const Json* elements;
};

Result<TypedElements> typed_elements(const ValueSpec& spec, const Json& json) {
  if (json.is_array()) return TypedElements{spec, &json};
  if (json.is_object() && json.contains("type") && json["type"].is_string() &&
      json.contains("values") && json["values"].is_array()) {
    const auto named = parse_value_spec(json["type"].get_ref<const std::string&>());
    // The type is that of the elements.
    if (named) return TypedElements{{named->scalar, named->depth + 1}, &json["values"]};
  }
  return refuse("an array must be [...] or {\"type\": \"...\", \"values\": [...]}, not " +
                shown_json(json));
}

template <class Byte>
std::span<const Byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const Byte*>(text.data()), text.size()};
}

/// `spec.depth` is at least 1. As deep as `levels_left`, which ends the recursion.
Result<OwnedValue> array_of(const ValueSpec& outer, const Json& json, std::size_t levels_left) {
  if (levels_left == 0) return refuse_depth();
  INGOT_TRY(const TypedElements typed, typed_elements(outer, json));
  const ValueSpec inner{typed.spec.scalar, typed.spec.depth - 1};
  if (inner.depth == 0 && !inner.scalar) {
    if (!typed.elements->empty()) return refuse("say the type of the elements: KEY:TYPE[]=...");
    return OwnedValue::array(ValueType::uint8);
  }
  OwnedValue array = OwnedValue::array(inner.depth == 0 ? inner.scalar.value_or(ValueType::uint8)
                                                        : ValueType::array);
  for (const Json& element : *typed.elements) {
    INGOT_TRY(const OwnedValue value, inner.depth == 0 ? scalar_of(*inner.scalar, element)
                                                       : array_of(inner, element, levels_left - 1));
    INGOT_TRY_VOID(array.append(value));
  }
  return array;
}

}  // namespace

std::optional<ValueSpec> parse_value_spec(std::string_view text) {
  ValueSpec spec;
  while (text.ends_with("[]") && spec.depth < max_array_depth) {
    text.remove_suffix(2);
    ++spec.depth;
  }
  spec.scalar = find_value_type(text);
  for (const auto& [name, type] : short_names) {
    if (text == name) spec.scalar = type;
  }
  if (!spec.scalar || *spec.scalar == ValueType::array) return std::nullopt;
  return spec;
}

ValueSpec spec_of(const Value& value) {
  ValueSpec spec{value.type(), 0};
  Value at = value;
  while (at.is_array()) {
    ++spec.depth;
    const Array array = at.as_array();
    spec.scalar = array.element_type();
    if (array.element_type() != ValueType::array) break;
    spec.scalar.reset();
    if (array.empty()) {
      ++spec.depth;
      break;
    }
    at = *array.begin();
  }
  return spec;
}

ValueSpec likely_spec(std::string_view text) {
  constexpr ValueType types[] = {ValueType::uint32, ValueType::int32,   ValueType::uint64,
                                 ValueType::int64,  ValueType::float32, ValueType::boolean,
                                 ValueType::string};
  const std::size_t depth = text.starts_with('[') ? 1 : 0;
  for (const ValueType type : types) {
    const ValueSpec spec{type, depth};
    if (parse_value(spec, text)) return spec;
  }
  return {ValueType::string, 0};
}

std::string spec_text(const ValueSpec& spec) {
  std::string text(spec.scalar ? name_of(*spec.scalar) : "");
  for (std::size_t i = 0; i < spec.depth; ++i) text += "[]";
  return text;
}

Result<OwnedValue> parse_value(const ValueSpec& spec, std::string_view text) {
  if (spec.depth > 0) {
    if (is_nested_too_deep(text)) return refuse_depth();
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return refuse("an array must be JSON, not " + shown(text));
    return array_of(spec, json, max_array_depth);
  }
  if (spec.scalar == ValueType::string) return OwnedValue::string(text);
  if (spec.scalar != ValueType::boolean) return parse_number(*spec.scalar, text);
  for (const std::string_view yes : {"true", "yes", "1"}) {
    if (text == yes) return OwnedValue::boolean(true);
  }
  for (const std::string_view no : {"false", "no", "0"}) {
    if (text == no) return OwnedValue::boolean(false);
  }
  return refuse("a bool must be true, yes, 1, false, no or 0, not " + shown(text));
}

Result<OwnedValue> value_of_content(const ValueSpec& spec, std::string_view content) {
  if (spec.depth == 1 && spec.scalar == ValueType::uint8) {
    return OwnedValue::array_of(bytes_of<std::uint8_t>(content));
  }
  if (spec.depth == 1 && spec.scalar == ValueType::int8) {
    return OwnedValue::array_of(bytes_of<std::int8_t>(content));
  }
  if (spec.depth == 0 && spec.scalar != ValueType::string) {
    while (content.ends_with('\n') || content.ends_with('\r')) content.remove_suffix(1);
  }
  return parse_value(spec, content);
}

}  // namespace ingot::cli
