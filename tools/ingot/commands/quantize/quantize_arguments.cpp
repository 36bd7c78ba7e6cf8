// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <sstream>

#include "cli/help.hpp"
#include "text/value_text.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

auto wrong(std::string message) { return tl::unexpected<std::string>(std::move(message)); }

struct Unit {
  std::string_view suffix;
  double bytes;
};
constexpr Unit units[] = {{"KIB", 1024.0},
                          {"MIB", 1048576.0},
                          {"GIB", 1073741824.0},
                          {"TIB", 1099511627776.0},
                          {"K", 1e3},
                          {"M", 1e6},
                          {"G", 1e9},
                          {"T", 1e12},
                          {"B", 1.0}};

/// The smallest of the usual types that holds the number.
ValueType usual_integer(std::string_view text) {
  if (parse_number<std::uint32_t>(text)) return ValueType::uint32;
  if (parse_number<std::int32_t>(text)) return ValueType::int32;
  return parse_number<std::uint64_t>(text) ? ValueType::uint64 : ValueType::int64;
}

template <class Number>
Result<void> set_number(ModelWriter& writer, const KeyOverride& change) {
  const auto number = parse_number<Number>(change.text);
  if (!number) {
    return fail(Errc::value_out_of_range, change.key,
                fmt::format("\"{}\" is no {}", change.text, name_of(change.type)));
  }
  writer.set(change.key, *number);
  return {};
}

Result<void> set_boolean(ModelWriter& writer, const KeyOverride& change) {
  if (change.text != "true" && change.text != "false") {
    return fail(Errc::invalid_argument, change.key, "a bool is true or false");
  }
  writer.set_bool(change.key, change.text == "true");
  return {};
}

std::string without_underscores(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

/// What is meant by a word that is written like a name, but for underscores or its end ("Q4K",
/// "iq2x"); of several mixtures the medium one. Empty if there is none.
std::string fuller_name(std::string_view word, const std::vector<std::string>& names) {
  const std::string wanted = without_underscores(word);
  std::string found;
  for (const std::string& name : names) {
    const std::string plain = without_underscores(name);
    if (plain == wanted) return name;
    if (wanted.size() < 2 || !plain.starts_with(wanted)) continue;
    if (found.empty() || plain == wanted + "M") found = name;
  }
  return found;
}

/// The regular expression of a pattern: `re:` and an expression, a glob of the whole name, or a
/// part of it. What only expressions have is one without its mark, as llama.cpp takes it.
std::string expression_of(std::string_view pattern) {
  constexpr std::string_view mark = "re:";
  if (pattern.starts_with(mark)) return std::string(pattern.substr(mark.size()));
  const bool is_expression = pattern.find_first_of("()|^$+\\{}") != std::string_view::npos ||
                             pattern.find(".*") != std::string_view::npos;
  if (is_expression || pattern.find_first_of("*?[") == std::string_view::npos) {
    return std::string(pattern);
  }
  std::string expression = "^";
  for (const char c : pattern) {
    if (c == '*') {
      expression += ".*";
    } else if (c == '?') {
      expression += '.';
    } else if (c == '!' && expression.ends_with('[')) {
      expression += '^';
    } else if (c == '.') {
      expression += "\\.";
    } else {
      expression += c;
    }
  }
  return expression + "$";
}

/// The recipe that makes tensors of the type whose number in files the word is: file types and
/// tensor types have numbers of their own, which are easily confused.
std::string recipe_of_tensor_type(std::string_view word, const std::vector<std::string>& names) {
  const auto number = parse_number<std::uint32_t>(word);
  if (!number) return {};
  for (const TensorTypeInfo& type : live_tensor_types) {
    if (static_cast<std::uint32_t>(type.type) != *number) continue;
    const std::string name = fuller_name(type.name, names);
    if (name.empty()) return {};
    return fmt::format("; {} is the tensor type {}, did you mean \"{}\"?", *number, type.name,
                       name);
  }
  return {};
}

std::string suggest_type(std::string_view word, const std::vector<std::string>& names) {
  const std::string name = fuller_name(upper_case(word), names);
  if (!name.empty()) return fmt::format("; did you mean \"{}\"?", name);
  const std::string by_number = recipe_of_tensor_type(word, names);
  // No name is near to a number.
  if (!by_number.empty() || parse_number<std::uint64_t>(word)) return by_number;
  return suggest(upper_case(word), names);
}

}  // namespace

std::string hint_recipe(std::string_view word) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.emplace_back(recipe.name);
  return suggest_type(word, names);
}

Parsed<const Recipe*> parse_recipe(std::string_view word) {
  if (const Recipe* recipe = find_recipe(word)) return recipe;
  return wrong(fmt::format("there is no TYPE \"{}\"{}; `ingot quantize --help` lists all",
                           escape(word), hint_recipe(word)));
}

Parsed<TensorType> parse_target_type(std::string_view word) {
  const TensorTypeInfo* info = find_type(word);
  if (info != nullptr && is_quantize_target(info->type)) return info->type;
  if (info != nullptr) {
    return wrong(
        fmt::format("no model is quantized to {}; it is only used while computing, or "
                    "holds no weights",
                    info->name));
  }
  std::vector<std::string> names;
  for (const TensorTypeInfo& type : live_tensor_types) {
    if (is_quantize_target(type.type)) names.emplace_back(type.name);
  }
  return wrong(fmt::format("there is no tensor type \"{}\"{}; `ingot types` lists all",
                           escape(word), suggest_type(word, names)));
}

Parsed<TypePattern> parse_type_pattern(std::string_view text) {
  // A pattern may hold '=', a type cannot.
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return wrong(fmt::format("--tensor-type must be PATTERN=TYPE, not \"{}\"", escape(text)));
  }
  const Parsed<TensorType> type = parse_target_type(text.substr(equals + 1));
  if (!type) return wrong(type.error());
  return TypePattern{expression_of(text.substr(0, equals)), *type};
}

/// Far more than any model has tensors: some 50,000 patterns, each of which is compiled.
constexpr std::size_t max_pattern_bytes = std::size_t{1} << 20;

Parsed<std::vector<TypePattern>> read_type_patterns(const std::string& path) {
  const Result<std::string> text = read_whole(path, max_pattern_bytes);
  if (!text) return wrong(text.error().message());
  if (text->empty()) return wrong(fmt::format("{}: the file is empty", escape(path)));
  std::istringstream lines(*text);
  std::vector<TypePattern> patterns;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      Parsed<TypePattern> pattern = parse_type_pattern(word);
      if (!pattern)
        return wrong(fmt::format("{}, line {}: {}", escape(path), number, pattern.error()));
      patterns.push_back(std::move(*pattern));
    }
  }
  return patterns;
}

Parsed<std::uint64_t> parse_size(std::string_view option, std::string_view text) {
  double scale = 1.0;
  std::string_view digits = text;
  const std::string upper_text = upper_case(text);
  for (const Unit& unit : units) {
    if (!upper_text.ends_with(unit.suffix)) continue;
    scale = unit.bytes;
    digits.remove_suffix(unit.suffix.size());
    break;
  }
  const std::optional<double> number = parse_number<double>(digits);
  constexpr double most = 1e18;
  if (!number || !(*number > 0.0) || *number * scale > most) {
    return wrong(fmt::format("{} must be a size like 4200M, 4.2G or 4GiB, not \"{}\"", option,
                             escape(text)));
  }
  return static_cast<std::uint64_t>(*number * scale);
}

Parsed<double> parse_bits(std::string_view option, std::string_view text) {
  const std::optional<double> number = parse_number<double>(text);
  if (number && *number > 0.0 && *number <= 64.0) return *number;
  return wrong(
      fmt::format("{} must be bits per weight like 4.5, not \"{}\"", option, escape(text)));
}

Parsed<KeyOverride> parse_override(std::string_view text, const Model& model) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = equals == std::string_view::npos ? equals : text.find(':', equals + 1);
  if (colon == std::string_view::npos || equals == 0) {
    return wrong(fmt::format("--override-kv must be KEY=TYPE:VALUE, not \"{}\"", escape(text)));
  }
  if (is_split_key(text.substr(0, equals))) {
    return wrong(
        fmt::format("--override-kv cannot set {}: it says how a model is cut into files, "
                    "which --keep-split and `ingot split` do",
                    text.substr(0, equals)));
  }
  KeyOverride change{.key = std::string(text.substr(0, equals)),
                     .text = std::string(text.substr(colon + 1))};
  const std::string_view type = text.substr(equals + 1, colon - equals - 1);
  const Value* present = model.find(change.key);
  if (type == "int") {
    const bool is_kept = present != nullptr && is_integer(present->type());
    change.type = is_kept ? present->type() : usual_integer(change.text);
  } else if (type == "float") {
    const bool is_kept = present != nullptr && is_float(present->type());
    change.type = is_kept ? present->type() : ValueType::float32;
  } else if (type == "str") {
    change.type = ValueType::string;
  } else if (type == "bool") {
    change.type = ValueType::boolean;
  } else if (const auto found = find_value_type(type); found && *found != ValueType::array) {
    change.type = *found;
  } else {
    return wrong(
        fmt::format("--override-kv knows int, float, bool, str and the types of values "
                    "(uint32, float64, ...), not \"{}\"",
                    escape(type)));
  }
  return change;
}

Result<void> apply_override(ModelWriter& writer, const KeyOverride& change) {
  if (change.type == ValueType::boolean) return set_boolean(writer, change);
  if (change.type == ValueType::array) return fail(Errc::invalid_argument, change.key);
  if (change.type == ValueType::string) {
    writer.set_string(change.key, change.text);
    return {};
  }
  return with_number_type(change.type,
                          [&](auto zero) { return set_number<decltype(zero)>(writer, change); });
}

}  // namespace ingot::cli
