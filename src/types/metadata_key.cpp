// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include "ingot/metadata_keys.hpp"

namespace ingot {
namespace {

struct FormRow {
  std::string_view name;
  KeyType usual;
};

/// The rows are in the order of KeyForm.
constexpr FormRow form_rows[] = {
    {"a string", {ValueType::string}},
    {"an integer that is not negative", {ValueType::uint32}},
    {"an integer that is not negative, or an array of integers", {ValueType::uint32}},
    {"an integer that is not negative, or an array of bools or integers", {ValueType::uint32}},
    {"a uint32", {ValueType::uint32}},
    {"a float32", {ValueType::float32}},
    {"a bool", {ValueType::boolean}},
    {"an array of strings", {ValueType::string, true}},
    {"an array of float32", {ValueType::float32, true}},
    {"an array of int32", {ValueType::int32, true}},
    {"an array of uint8", {ValueType::uint8, true}},
    {{}, {ValueType::string}},  // for an unknown form
};
constexpr std::size_t form_count = std::size(form_rows) - 1;
static_assert(form_count == static_cast<std::size_t>(KeyForm::bytes) + 1);

const FormRow& row_of(KeyForm form) noexcept {
  return form_rows[std::min(static_cast<std::size_t>(form), form_count)];
}

}  // namespace

const MetadataKeyInfo* find_key(std::string_view key, std::string_view architecture) noexcept {
  const bool has_architecture = !architecture.empty() && key.size() > architecture.size() &&
                                key.starts_with(architecture) && key[architecture.size()] == '.';
  if (has_architecture) key.remove_prefix(architecture.size() + 1);
  const auto found = std::ranges::find_if(standard_keys, [&](const MetadataKeyInfo& row) {
    return row.has_architecture == has_architecture && row.name == key;
  });
  return found == standard_keys.end() ? nullptr : &*found;
}

std::string_view name_of(KeyForm form) noexcept { return row_of(form).name; }

KeyType usual_type(KeyForm form, bool wants_array) noexcept {
  if (wants_array && form == KeyForm::number_or_list) return {ValueType::uint32, true};
  if (wants_array && form == KeyForm::number_or_flags) return {ValueType::boolean, true};
  return row_of(form).usual;
}

std::string_view token_role(std::string_view key) noexcept {
  if (!key.starts_with(keys::tokenizer_prefix) || !key.ends_with(keys::token_id_suffix)) return {};
  key.remove_prefix(keys::tokenizer_prefix.size());
  if (key.size() <= keys::token_id_suffix.size()) return {};
  key.remove_suffix(keys::token_id_suffix.size());
  return key;
}

std::string token_id_key(std::string_view role) {
  return std::string(keys::tokenizer_prefix).append(role).append(keys::token_id_suffix);
}

}  // namespace ingot
