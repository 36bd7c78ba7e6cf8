// SPDX-License-Identifier: MIT
// Rules about keys and about values as such, whatever they mean.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "base/messages.hpp"
#include "check/case_collisions.hpp"
#include "check/rules.hpp"
#include "ingot/architectures.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"
#include "tokenizer/vocabulary/text_walk.hpp"

namespace ingot::check::rules {
namespace {

/// lower_snake_case in segments between dots, none of them empty.
bool is_snake_case(std::string_view key) noexcept {
  char before = '.';
  for (const char c : key) {
    if (c == '.' ? before == '.' : !is_lower_or_digit(c) && c != '_') return false;
    before = c;
  }
  return before != '.';
}

/// Architectures have names like `command-r` and `bitnet-b1.58`, and keys begin with them.
std::string_view without_architecture(std::string_view key, std::string_view architecture,
                                      bool is_good_architecture) noexcept {
  const bool has_it = is_good_architecture && key.size() > architecture.size() + 1 &&
                      key.starts_with(architecture) && key[architecture.size()] == '.';
  return has_it ? key.substr(architecture.size() + 1) : key;
}

/// The specification allows letters and digits; some keys of loaders have more.
bool is_architecture_name(std::string_view name) {
  return !name.empty() &&
         (std::ranges::all_of(name, is_lower_or_digit) || find_architecture(name) != nullptr);
}

/// Whether printing `text` has to escape something other than line ends, tabs and backslashes.
bool has_hidden_characters(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; })) {
    return false;
  }
  std::string rest;
  rest.reserve(text.size());
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != '\t' && c != '\\') rest.push_back(c);
  }
  return is_utf8(rest) && escape(rest) != rest;
}

bool is_infinite_or_nan(const Value& value) {
  const Result<double> number = value.get<double>();
  return number && !std::isfinite(*number);
}

}  // namespace

void architecture_missing(Inspection& inspection) {
  const Model& model = inspection.model();
  const Value* architecture = model.find(keys::general_architecture);
  if (architecture != nullptr && architecture->type() != ValueType::string) {
    return inspection.report_key(keys::general_architecture, "it is not a string");
  }
  if (architecture != nullptr) return;
  // An importance matrix is no model, and has none.
  const Value* type = model.find(keys::general_type);
  if (type != nullptr && type->get<std::string_view>().value_or("") == "imatrix") return;
  inspection.report_model("there is no general.architecture");
}

void architecture_syntax(Inspection& inspection) {
  const Value* value = inspection.model().find(keys::general_architecture);
  if (value == nullptr || value->type() != ValueType::string) return;
  if (is_architecture_name(inspection.architecture())) return;
  const std::string_view name = inspection.architecture();
  inspection.report_key(
      keys::general_architecture,
      name.empty() ? "it is empty" : "found \"" + escape_shortened(name, 60) + "\"");
}

void key_syntax(Inspection& inspection) {
  const bool is_good = is_architecture_name(inspection.architecture());
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (is_snake_case(without_architecture(entry.key, inspection.architecture(), is_good))) return;
    inspection.report_key(entry, "the key is not ASCII lower_snake_case in segments between dots",
                          file);
  });
}

void key_control_characters(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (escape(entry.key) == entry.key) return;
    inspection.report_key(entry, "the key holds control or invisible characters", file);
  });
}

void key_case_collision(Inspection& inspection) {
  const Model& model = inspection.model();
  std::vector<std::string_view> keys;
  for (const KeyValue& entry : model.metadata()) keys.push_back(entry.key);
  find_case_collisions(
      keys, [&](std::string_view key) { return model.find(key) != nullptr; },
      [&](std::string_view key, std::string_view other) {
        inspection.report({.key = key}, "there is " + quoted_name(other) + ", too");
      });
}

void value_not_finite(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (is_float(entry.value.type()) && is_infinite_or_nan(entry.value)) {
      return inspection.report_key(entry, "found " + format_float(*entry.value.get<double>()),
                                   file);
    }
    const Array array = entry.value.as_array();
    if (!is_float(array.element_type())) return;
    const auto bad = std::ranges::find_if(array, is_infinite_or_nan);
    if (bad == array.end()) return;
    inspection.report_key(entry,
                          "element " + std::to_string(std::distance(array.begin(), bad)) + " is " +
                              format_float(*(*bad).get<double>()),
                          file);
  });
}

void value_not_utf8(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (entry.value.type() == ValueType::string) {
      if (is_utf8(*entry.value.get<std::string_view>())) return;
      return inspection.report_key(entry, "the value is not UTF-8", file);
    }
    const Array array = entry.value.as_array();
    if (array.element_type() != ValueType::string || entry.key == keys::tokenizer_ggml_tokens)
      return;
    std::uint64_t good_count = 0;
    const bool is_good = tokenizer::take_texts(
        array, [&](std::string_view text) { return is_utf8(text) && ++good_count != 0; });
    if (is_good) return;
    inspection.report_key(entry, "element " + std::to_string(good_count) + " is not UTF-8", file);
  });
}

void value_control_characters(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    // Tokenizers hold all that people write; templates have a rule of their own.
    if (entry.value.type() != ValueType::string || entry.key.starts_with("tokenizer.")) return;
    if (!has_hidden_characters(*entry.value.get<std::string_view>())) return;
    inspection.report_key(entry, "the value holds control or invisible characters", file);
  });
}

void template_hidden(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (entry.value.type() != ValueType::string ||
        !entry.key.starts_with(keys::tokenizer_chat_template))
      return;
    if (!has_hidden_characters(*entry.value.get<std::string_view>())) return;
    inspection.report_key(entry, "the template holds control or invisible characters", file);
  });
}

void template_large(Inspection& inspection) {
  constexpr std::size_t max_bytes = std::size_t{128} << 10;
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (!entry.key.starts_with(keys::tokenizer_chat_template) ||
        entry.value.bytes().size() <= max_bytes)
      return;
    inspection.report_key(entry, "the template has " + format_bytes(entry.value.bytes().size()),
                          file);
  });
}

void nested_array(Inspection& inspection) {
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (!entry.value.is_array()) return;
    if (entry.value.as_array().element_type() != ValueType::array) return;
    inspection.report_key(entry, "an array of arrays", file);
  });
}

}  // namespace ingot::check::rules
