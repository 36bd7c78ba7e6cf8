// SPDX-License-Identifier: MIT
// Values of the rules' JSON, checked. `read_value` takes a value for what its second argument is.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/name_pattern.hpp"
#include "huggingface/rules/rule_expression.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

[[nodiscard]] inline Failure wrong(const std::string& expected) {
  return refuse("rule", "expected " + expected);
}

[[nodiscard]] inline Failure wrong(const char* expected, const nlohmann::ordered_json& value) {
  return wrong(expected + std::string(" instead of ") + value.dump().substr(0, 80));
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value,
                                             std::string& text) {
  if (!value.is_string()) return wrong("a text", value);
  text = value.get<std::string>();
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value, bool& flag) {
  if (!value.is_boolean()) return wrong("true or false", value);
  flag = value.get<bool>();
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value, double& number) {
  if (!value.is_number()) return wrong("a number", value);
  number = value.get<double>();
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value,
                                             std::int64_t& number) {
  if (!value.is_number_integer()) return wrong("a whole number", value);
  number = value.get<std::int64_t>();
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value,
                                             NamePattern& pattern) {
  std::string text;
  INGOT_TRY_VOID(read_value(value, text));
  INGOT_TRY(pattern, NamePattern::parse(text));
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& value,
                                             Expression& expression) {
  if (value.is_null()) return {};
  std::string text;
  INGOT_TRY_VOID(read_value(value, text));
  INGOT_TRY(expression, Expression::parse(text));
  return {};
}

/// Reads a list of exactly so many names.
template <std::size_t count>
[[nodiscard]] Result<void> read_value(const nlohmann::ordered_json& list,
                                      std::array<std::string, count>& names) {
  if (!list.is_array() || list.size() != count) {
    return wrong(("a list of " + std::to_string(count) + " names").c_str(), list);
  }
  for (std::size_t i = 0; i < count; ++i) {
    INGOT_TRY_VOID(read_value(list[i], names[i]));
    INGOT_TRY_VOID(NamePattern::parse(names[i]));
  }
  return {};
}

/// Reads all elements of a list.
template <class T>
[[nodiscard]] Result<void> read_value(const nlohmann::ordered_json& list,
                                      std::vector<T>& elements) {
  if (!list.is_array()) return wrong("a list", list);
  for (const nlohmann::ordered_json& element : list) {
    INGOT_TRY_VOID(read_value(element, elements.emplace_back()));
  }
  return {};
}

/// Reads all members of an object, in order.
template <class T>
[[nodiscard]] Result<void> read_value(const nlohmann::ordered_json& object,
                                      std::vector<std::pair<std::string, T>>& members) {
  if (!object.is_object()) return wrong("an object", object);
  for (const auto& [name, content] : object.items()) {
    INGOT_TRY_VOID(read_value(content, members.emplace_back(name, T()).second));
  }
  return {};
}

[[nodiscard]] inline Result<void> read_value(const nlohmann::ordered_json& object,
                                             std::map<std::string, std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> members;
  INGOT_TRY_VOID(read_value(object, members));
  texts.insert(members.begin(), members.end());
  return {};
}

/// A member of objects that stand for a T.
template <class T>
struct RuleMember {
  std::string_view name;
  Result<void> (*read)(const nlohmann::ordered_json& value, T& rule);
};

/// Reads a value into a member of `rule`, for the rows of tables.
template <auto member, class T>
[[nodiscard]] Result<void> read_into(const nlohmann::ordered_json& value, T& rule) {
  return read_value(value, rule.*member);
}

/// Reads an object by the table of its members; others are refused.
template <class T, std::size_t N>
[[nodiscard]] Result<void> read_members(const nlohmann::ordered_json& object,
                                        const RuleMember<T> (&members)[N], T& rule) {
  if (!object.is_object()) return wrong("an object", object);
  for (const auto& [name, content] : object.items()) {
    const auto* const row = std::ranges::find(members, name, &RuleMember<T>::name);
    if (row == std::end(members)) return wrong("a known member instead of " + name);
    INGOT_TRY_VOID(row->read(content, rule));
  }
  return {};
}

}  // namespace ingot::huggingface
