// SPDX-License-Identifier: MIT
#include "huggingface/rules/rule_operators.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {

using nlohmann::json;

namespace {

std::optional<json> compute_whole(const std::string& symbol, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool is_wrong = false;
  if (symbol == "+") {
    is_wrong = __builtin_add_overflow(a, b, &result);
  } else if (symbol == "-") {
    is_wrong = __builtin_sub_overflow(a, b, &result);
  } else if (symbol == "*") {
    is_wrong = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    const bool is_down = a % b != 0 && (a < 0) != (b < 0);  // Python rounds down
    if (symbol == "%") return json(a % b + (is_down ? b : 0));
    result = a / b - (is_down ? 1 : 0);
  }
  return is_wrong ? std::nullopt : std::optional<json>(result);
}

std::optional<json> compute_real(const std::string& symbol, double a, double b) {
  double result = 0;
  if (symbol == "+") {
    result = a + b;
  } else if (symbol == "-") {
    result = a - b;
  } else if (symbol == "*") {
    result = a * b;
  } else if (symbol == "**") {
    result = std::pow(a, b);
  } else {
    if (b == 0 || symbol == "%") return std::nullopt;
    result = symbol == "//" ? std::floor(a / b) : a / b;
  }
  return std::isfinite(result) ? std::optional<json>(result) : std::nullopt;
}

/// Lists are joined by +, and one of one element is repeated by *.
std::optional<json> compute_list(const std::string& symbol, json list, const json& b) {
  if (symbol == "+" && b.is_array()) return list.insert(list.end(), b.begin(), b.end()), list;
  const auto count = symbol == "*" ? whole_number(b) : std::nullopt;
  if (!count || *count < 0 || *count > 65536 || list.size() != 1) return std::nullopt;
  return json(static_cast<std::size_t>(*count), list.front());
}

}  // namespace

Failure not_computable(const std::string& what) {
  return refuse("config.json", "the rule `" + what + "` needs numbers in range");
}

std::optional<std::int64_t> whole_number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::optional<double> real_number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

Result<json> compute(const std::string& symbol, const json& a, const json& b) {
  if (a.is_null() || b.is_null()) return json();
  std::optional<json> result;
  const auto whole_a = whole_number(a);
  const auto whole_b = whole_number(b);
  if (a.is_array()) {
    result = compute_list(symbol, a, b);
  } else if (symbol != "/" && symbol != "**" && whole_a && whole_b) {
    result = compute_whole(symbol, *whole_a, *whole_b);
  } else if (const auto real_a = real_number(a), real_b = real_number(b); real_a && real_b) {
    result = compute_real(symbol, *real_a, *real_b);
  }
  if (!result) return not_computable(symbol);
  return *std::move(result);
}

}  // namespace ingot::huggingface
