// SPDX-License-Identifier: MIT
// Property: names lead back to what they name: types, recipes, formats, rules, keys, layers and
// shards; other texts and numbers name nothing.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "byte_input.hpp"
#include "ingot/anatomy.hpp"
#include "ingot/check.hpp"
#include "ingot/edit.hpp"
#include "ingot/interop.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/npy.hpp"
#include "ingot/recipe.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/tensor.hpp"
#include "ingot/text.hpp"
#include "ingot/types.hpp"

namespace {

using namespace ingot;
using fuzz::require;

void try_types(std::uint64_t number) {
  const auto low = static_cast<std::uint32_t>(number);
  const auto type = static_cast<TensorType>(low % 64);
  require(find_type(type) == nullptr || removed_type_name(type).empty());
  if (const TensorTypeInfo* info = find_type(type)) require(find_type(info->name) == info);
  require(is_quantized(type) + is_integer(type) + is_float(type) == (find_type(type) != nullptr));
  if (const auto file_type = file_type_of(type)) require(type_of_file_type(*file_type) == type);
  const std::array<std::uint64_t, 2> shape = {number, low};
  if (const auto size = size_of_tensor(type, shape); size && find_type(type) != nullptr) {
    require(size->bytes == find_type(type)->bytes_of(size->elements));
  }
  const auto any_type = static_cast<TensorType>(low);
  require(find_type(any_type) == nullptr || removed_type_name(any_type).empty());
  require(npy_descriptor(any_type).empty() || !is_quantized(any_type));
  require(!is_quantize_target(any_type) || find_type(any_type) != nullptr);
  if (const auto fallback = fallback_type(any_type, number)) {
    require(find_type(*fallback) != nullptr);
  }
  const auto value_type = static_cast<ValueType>(low);
  require(name_of(value_type).empty() || find_value_type(name_of(value_type)) == value_type);
  require(size_bytes_of(value_type) <= 8);
  const FileTypeInfo* file_type = find_file_type(number);
  require(file_type_name(number) == (file_type == nullptr ? "" : file_type->name));
  if (file_type != nullptr) require(file_type_of(file_type->weights).has_value());
}

void try_tables(std::uint64_t number) {
  const auto low = static_cast<std::uint32_t>(number);
  const Recipe& recipe = recipes()[number % recipes().size()];
  require(find_recipe(recipe.name) == &recipe);
  if (recipe.file_type) require(find_recipe(*recipe.file_type) != nullptr);
  const auto role = static_cast<TensorRole>(low % 12);
  require(!demands_importance(TensorType::f32, role, recipe));
  const auto code = static_cast<Errc>(low);
  require(!name_of(code).empty() && is_utf8(sentence_of(code)) && is_utf8(advice_of(code)));
  require(category_of(code) <= ErrorCategory::notice);
  const auto row = static_cast<std::uint8_t>(number);
  for (const std::string_view name :
       {name_of(static_cast<Severity>(row)), name_of(static_cast<RuleSource>(row)),
        name_of(static_cast<Section>(row)), name_of(static_cast<FileFormat>(row)),
        name_of(static_cast<EditWay>(row)), name_of(static_cast<TypeReason>(row)),
        name_of(static_cast<KeyForm>(row))}) {
    require(is_utf8(name));
  }
  for (const CheckRule& rule : check_rules()) {
    require(!name_of(rule.severity).empty() && !name_of(rule.source).empty());
  }
}

void try_keys(const std::string& text, const std::string& architecture) {
  if (const MetadataKeyInfo* key = find_key(text, architecture)) {
    require(text.ends_with(key->name) && key->has_architecture == (text != key->name));
    require(usual_type(key->form, true).type != ValueType::array);
  }
  const std::string_view role = token_role(text);
  require(role.empty() || token_id_key(role) == text);
  require(text.empty() || token_role(token_id_key(text)) == text);
  require(!is_split_key(text) || text.starts_with("split."));
}

void try_texts(const std::string& text) {
  const auto is_row = [](const auto& rows, const auto* row) {
    return row == nullptr || (row >= rows.data() && row < rows.data() + rows.size());
  };
  require(is_row(check_rules(), find_check_rule(text)));
  require(is_row(recipes(), find_recipe(text)));
  require(is_row(live_tensor_types, find_type(text)));
  if (const auto type = find_value_type(text)) require(name_of(*type) == text);
  if (const auto format = format_by_ending(text)) require(!name_of(*format).empty());
  require(role_of(text) <= TensorRole::other);
  if (const auto layer = parse_layer_name(text)) {
    require(text.starts_with("blk.") && text.ends_with(layer->rest));
  }
}

void try_shards(fuzz::ByteInput& input, const std::string& text) {
  if (text.find('\0') != std::string::npos) return;
  const std::uint32_t count = 1 + input.take<std::uint16_t>() % max_shard_count;
  const std::uint32_t index = input.take<std::uint16_t>() % count;
  const auto name = parse_shard_name(shard_file_name(text, index, count));
  require(name.has_value() && name->prefix == text);
  require(name->index == index && name->count == count);
  static_cast<void>(parse_shard_name(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ByteInput input(data, size);
  const auto number = input.take<std::uint64_t>();
  try_types(number);
  try_tables(number);
  const std::string text = input.rest();
  try_texts(text);
  try_keys(text, text.substr(0, text.find('.')));
  try_shards(input, text);
  std::vector<std::uint64_t> shape(input.take<std::uint8_t>() % 6u);
  for (std::uint64_t& dimension : shape) dimension = input.take<std::uint64_t>();
  const std::string header = npy_header(text.substr(0, 8), shape);
  require(header.size() % 64 == 0 && header.ends_with('\n'));
  return 0;
}
