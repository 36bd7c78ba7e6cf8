// SPDX-License-Identifier: MIT
// The functions of expressions that depend on their arguments alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/rule_expression.hpp"
#include "huggingface/rules/rule_operators.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;
using Arguments = std::span<const json>;

/// Doubles from here on are no exact int64.
constexpr double int64_end = 9223372036854775808.0;

/// An element of a list, or a letter of a text; absent beyond the end.
Result<json> at(Arguments arguments) {
  const json& list = arguments[0];
  const auto i = static_cast<std::size_t>(whole_number(arguments[1]).value_or(-1));
  if (list.is_string()) {
    const auto& letters = list.get_ref<const std::string&>();
    return i < letters.size() ? json(letters.substr(i, 1)) : json();
  }
  return list.is_array() && i < list.size() ? list[i] : json();
}

Result<json> length(Arguments arguments) {
  return arguments[0].is_array() ? json(arguments[0].size()) : json();
}

/// What all elements of a list equal, absent if they differ; no list stands for itself.
Result<json> only(Arguments arguments) {
  const json& list = arguments[0];
  if (!list.is_array()) return list;
  const bool is_one = !list.empty() && std::ranges::count(list, list.front()) ==
                                           static_cast<std::ptrdiff_t>(list.size());
  return is_one ? list.front() : json();
}

/// The largest element of a list of numbers; a number stands for itself.
Result<json> largest(Arguments arguments) {
  const json& list = arguments[0];
  if (!list.is_array()) return list;
  const auto most = std::ranges::max_element(list);
  return most == list.end() || !most->is_number() ? json() : *most;
}

/// The number of elements at the beginning of a list that equal a value; absent without a list.
Result<json> leading(Arguments arguments) {
  const json& list = arguments[0];
  if (!list.is_array()) return json();
  const auto end = std::ranges::find_if(list, [&](const json& one) { return one != arguments[1]; });
  return json(std::distance(list.begin(), end));
}

/// The value below which a standard normal variable stays with a probability. What other
/// probabilities than these give depends on a library in the last digit.
Result<json> normal_quantile(Arguments arguments) {
  const auto known = real_number(arguments[0]);
  if (known == 0.0) return json(-std::numeric_limits<double>::infinity());
  if (known == 0.5) return json(0.0);
  if (known == 0.95) return json(1.6448533535003662);
  return not_computable("normal_quantile()");
}

Result<json> to_int(Arguments arguments) {
  const json& argument = arguments[0];
  if (argument.is_null() || argument.is_number_integer()) return argument;
  const auto number = real_number(argument);
  if (!number || !(std::abs(*number) < int64_end)) return not_computable("int()");
  return json(static_cast<std::int64_t>(*number));
}

/// Rounds to the next whole number, and halves to an even one.
Result<json> to_nearest(Arguments arguments) {
  const auto number = real_number(arguments[0]);
  if (!number || !(std::abs(*number) < int64_end)) return not_computable("round()");
  return json(static_cast<std::int64_t>(std::nearbyint(*number)));
}

Result<json> square_root(Arguments arguments) {
  const auto number = real_number(arguments[0]);
  if (!number || !(*number >= 0)) return not_computable("sqrt()");
  return json(std::sqrt(*number));
}

Result<json> binary_logarithm(Arguments arguments) {
  const auto number = real_number(arguments[0]);
  if (!number || !(*number > 0)) return not_computable("log2()");
  return json(std::log2(*number));
}

/// increased(LIST, NUMBER): the whole numbers of a list, each with a number added.
Result<json> increased(Arguments arguments) {
  const auto more = whole_number(arguments[1]);
  if (!arguments[0].is_array() || !more) return not_computable("increased()");
  json list = json::array();
  for (const json& element : arguments[0]) {
    const auto number = whole_number(element);
    std::int64_t sum = 0;
    if (!number || __builtin_add_overflow(*number, *more, &sum)) {
      return not_computable("increased()");
    }
    list.push_back(sum);
  }
  return list;
}

Result<json> larger(Arguments arguments) {
  if (!arguments[0].is_number() || !arguments[1].is_number()) return not_computable("max()");
  return arguments[0] < arguments[1] ? arguments[1] : arguments[0];
}

/// The texts of a list as one text.
Result<json> joined_text(Arguments arguments) {
  std::string text;
  if (!arguments[0].is_array()) return not_computable("text()");
  for (const json& part : arguments[0]) {
    if (!part.is_string()) return not_computable("text()");
    text += part.get_ref<const std::string&>();
  }
  return json(text);
}

/// The value, absent if it is 0, false or empty.
Result<json> nonzero(Arguments arguments) {
  return is_truthy(arguments[0]) ? arguments[0] : json();
}

/// The lowest of the whole numbers of a text, "3,4,5"; absent without one.
Result<json> lowest_in(Arguments arguments) {
  if (!arguments[0].is_string()) return json();
  json lowest;
  std::string_view rest = arguments[0].get_ref<const std::string&>();
  while (!rest.empty()) {
    std::string_view part = take_part(rest, ',');
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    const auto number = parse_number<std::int64_t>(part);
    if (!number && !part.empty()) return not_computable("lowest_in()");
    if (number && (lowest.is_null() || *number < lowest.get<std::int64_t>())) lowest = *number;
  }
  return lowest;
}

/// member(OBJECT, 'a.b'): absent if there is no such member.
Result<json> member(Arguments arguments) {
  if (!arguments[1].is_string()) return refuse("rule", "member() takes the name of a member");
  const json* value = &arguments[0];
  std::string_view rest = arguments[1].get_ref<const std::string&>();
  while (!rest.empty()) {
    const std::string_view name = take_part(rest, '.');
    const auto found = value->is_object() ? value->find(name) : value->end();
    if (found == value->end()) return json();
    value = &*found;
  }
  return *value;
}

struct Row {
  std::string_view name;
  std::size_t arguments;
  Result<json> (*function)(Arguments arguments);
};

constexpr std::array functions = {
    Row{"at", 2, at},
    Row{"len", 1, length},
    Row{"only", 1, only},
    Row{"largest", 1, largest},
    Row{"leading", 2, leading},
    Row{"normal_quantile", 1, normal_quantile},
    Row{"int", 1, to_int},
    Row{"round", 1, to_nearest},
    Row{"sqrt", 1, square_root},
    Row{"log2", 1, binary_logarithm},
    Row{"max", 2, larger},
    Row{"increased", 2, increased},
    Row{"nonzero", 1, nonzero},
    Row{"text", 1, joined_text},
    Row{"lowest_in", 1, lowest_in},
    Row{"member", 2, member},
};

}  // namespace

Result<json> call_function(const std::string& name, Arguments arguments) {
  for (const Row& row : functions) {
    if (row.name == name && row.arguments == arguments.size()) return row.function(arguments);
  }
  return refuse("rule", "unknown function " + name + "() with " + std::to_string(arguments.size()) +
                            " arguments");
}

}  // namespace ingot::huggingface
