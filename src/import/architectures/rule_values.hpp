// SPDX-License-Identifier: MIT
// Values of the rules' JSON, checked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "import/architectures/name_pattern.hpp"
#include "import/architectures/rule_expression.hpp"
#include "import/folder/refusal.hpp"
#include "ingot/error.hpp"

namespace ingot::hf {

[[nodiscard]] inline Failure wrong(const std::string& expected) {
  return refuse("rule", "expected " + expected);
}

[[nodiscard]] inline Result<std::string> text_of(const nlohmann::ordered_json& value) {
  if (!value.is_string()) return wrong("a text instead of " + value.dump().substr(0, 80));
  return value.get<std::string>();
}

[[nodiscard]] inline Result<std::vector<std::string>> texts_of(
    const nlohmann::ordered_json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return wrong("a list of texts instead of " + value.dump().substr(0, 80));
  for (const nlohmann::ordered_json& element : value) {
    INGOT_TRY(texts.emplace_back(), text_of(element));
  }
  return texts;
}

/// All elements of a list, each made by `make`.
template <class T, class Make>
[[nodiscard]] Result<std::vector<T>> each(const nlohmann::ordered_json& list, const Make& make) {
  std::vector<T> made;
  if (!list.is_array()) return wrong("a list instead of " + list.dump().substr(0, 80));
  for (const nlohmann::ordered_json& element : list) {
    INGOT_TRY(T one, make(element));
    made.push_back(std::move(one));
  }
  return made;
}

[[nodiscard]] inline Result<NamePattern> pattern_of(const nlohmann::ordered_json& value) {
  INGOT_TRY(const std::string text, text_of(value));
  return NamePattern::parse(text);
}

[[nodiscard]] inline Result<Expression> expression_of(const nlohmann::ordered_json& value) {
  if (value.is_null()) return Expression();
  INGOT_TRY(const std::string text, text_of(value));
  return Expression::parse(text);
}

}  // namespace ingot::hf
