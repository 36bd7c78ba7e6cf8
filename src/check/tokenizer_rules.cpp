// SPDX-License-Identifier: MIT
// Rules about vocabularies.
#include <optional>
#include <string>
#include <string_view>

#include "base/messages.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/text_walk.hpp"

namespace ingot::check::rules {
namespace {

/// The tokens, if they are an array of strings.
std::optional<Array> find_tokens(const Model& model) {
  const Value* value = model.find(keys::tokenizer_ggml_tokens);
  if (value == nullptr || !value->is_array()) return std::nullopt;
  const Array array = value->as_array();
  return array.element_type() == ValueType::string ? std::optional(array) : std::nullopt;
}

/// Ids that generation must never pick are ids, too.
void report_suppressed(Inspection& inspection, std::uint64_t token_count) {
  constexpr std::string_view key = keys::tokenizer_ggml_suppress_tokens;
  const Value* value = inspection.model().find(key);
  if (value == nullptr || !value->is_array()) return;
  for (const Value& element : value->as_array()) {
    const Result<std::int64_t> id = element.get<std::int64_t>();
    if (!id || (*id >= 0 && static_cast<std::uint64_t>(*id) < token_count)) continue;
    inspection.report({.file_offset = element.file_offset(), .key = key},
                      "it holds " + std::to_string(*id) + ", but there are " +
                          std::to_string(token_count) + " tokens");
  }
}

/// `tokenizer.ggml.token_type` of a byte token.
constexpr std::int64_t byte_type = 6;

}  // namespace

void tokenizer_lengths(Inspection& inspection) {
  const Model& model = inspection.model();
  const std::optional<Array> tokens = find_tokens(model);
  for (const std::string_view key :
       {keys::tokenizer_ggml_scores, keys::tokenizer_ggml_token_type}) {
    const Value* value = model.find(key);
    if (value == nullptr || !value->is_array()) continue;
    const std::uint64_t count = value->as_array().size();
    if (!tokens) {
      if (model.find(keys::tokenizer_ggml_tokens) == nullptr && count != 0) {
        inspection.report_key(key, "there are no tokens that it could belong to");
      }
    } else if (count != tokens->size()) {
      inspection.report_key(
          key, "it has " + plural(count, "element") + " for " + plural(tokens->size(), "token"));
    }
  }
  const std::optional<std::uint64_t> vocabulary = inspection.own_number(suffixes::vocab_size);
  if (tokens && vocabulary && *vocabulary < tokens->size()) {
    const std::string key = inspection.own_key(suffixes::vocab_size);
    inspection.report({.key = key}, "it is " + std::to_string(*vocabulary) + ", but there are " +
                                        std::to_string(tokens->size()) + " tokens");
  }
}

void token_id_range(Inspection& inspection) {
  const std::optional<Array> tokens = find_tokens(inspection.model());
  if (!tokens) return;
  for (const KeyValue& entry : inspection.model().metadata()) {
    if (token_role(entry.key).empty()) continue;
    const Result<std::int64_t> id = entry.value.get<std::int64_t>();
    const bool is_big = !id && entry.value.get<std::uint64_t>().has_value();
    if (!is_big && (!id || (*id >= 0 && static_cast<std::uint64_t>(*id) < tokens->size())))
      continue;
    inspection.report_key(
        entry,
        "it is " +
            (is_big ? std::to_string(*entry.value.get<std::uint64_t>()) : std::to_string(*id)) +
            ", but there are " + std::to_string(tokens->size()) + " tokens");
  }
  report_suppressed(inspection, tokens->size());
}

void token_not_utf8(Inspection& inspection) {
  const std::optional<Array> tokens = find_tokens(inspection.model());
  if (!tokens) return;
  std::uint64_t bad_count = 0;
  std::uint64_t first = 0;
  std::uint64_t index = 0;
  tokenizer::take_texts(*tokens, [&](std::string_view text) {
    if (!is_utf8(text) && bad_count++ == 0) first = index;
    ++index;
    return true;
  });
  if (bad_count == 0) return;
  inspection.report_key(keys::tokenizer_ggml_tokens,
                        std::to_string(bad_count) + (bad_count == 1 ? " token is" : " tokens are") +
                            " not UTF-8, the first is number " + std::to_string(first));
}

void byte_token(Inspection& inspection) {
  const Model& model = inspection.model();
  const std::optional<Array> tokens = find_tokens(model);
  if (!tokens) return;
  const Value* types = model.find(keys::tokenizer_ggml_token_type);
  const Array kinds = types != nullptr && types->is_array() ? types->as_array() : Array();
  Array::Iterator kind = kinds.begin();
  std::uint64_t index = 0;
  tokenizer::take_texts(*tokens, [&](std::string_view text) {
    const bool has_kind = index < kinds.size();
    const bool is_byte = has_kind && (*kind).get<std::int64_t>().value_or(0) == byte_type;
    if (has_kind) ++kind;
    // Some loaders go by the text alone.
    const bool should_be = is_byte || (text.starts_with("<0x") && text.ends_with('>'));
    if (should_be && tokenizer::byte_of_token(text) < 0) {
      const Value* value = model.find(keys::tokenizer_ggml_tokens);
      const auto* begin = reinterpret_cast<const char*>(tokens->bytes().data());
      const auto distance = static_cast<std::uint64_t>(text.data() - begin);
      inspection.report(
          {.file_offset = value->file_offset() + distance, .key = keys::tokenizer_ggml_tokens},
          "token " + std::to_string(index) + " is " + in_quotes(text));
    }
    ++index;
    return true;
  });
}

}  // namespace ingot::check::rules
