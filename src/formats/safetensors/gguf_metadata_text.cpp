// SPDX-License-Identifier: MIT
#include "formats/safetensors/gguf_metadata_text.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "formats/foreign/lost_meaning.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/text.hpp"

namespace ingot::formats {
namespace {

/// Arrays of more elements (vocabularies) are only in the exact entry.
constexpr std::uint64_t max_readable_elements = 1024;

/// A number or flag as text.
std::string scalar_text(const Value& value) {
  switch (value.type()) {
    case ValueType::boolean:
      return value.get<bool>().value_or(false) ? "true" : "false";
    case ValueType::float32:
      return format_float(value.get<float>().value_or(0));
    case ValueType::float64:
      return format_float(value.get<double>().value_or(0));
    case ValueType::uint64:
      return std::to_string(value.get<std::uint64_t>().value_or(0));
    default:
      return std::to_string(value.get<std::int64_t>().value_or(0));
  }
}

/// An array of numbers, flags or UTF-8 texts as JSON; empty if it is another one or too long.
std::string array_text(const Array& array) {
  if (array.size() > max_readable_elements || array.element_type() == ValueType::array) return {};
  std::string text = "[";
  for (const Value element : array) {
    if (text.size() > 1) text += ", ";
    if (element.type() != ValueType::string) {
      text += scalar_text(element);
      continue;
    }
    const std::string_view string = element.get<std::string_view>().value_or("");
    if (!is_utf8(string)) return {};
    text += nlohmann::json(string).dump();
  }
  return text + "]";
}

/// A value as text; empty if it has none that is worth showing.
std::string readable_text(const Value& value) {
  if (value.is_array()) return array_text(value.as_array());
  if (value.type() != ValueType::string) return scalar_text(value);
  const std::string_view text = value.get<std::string_view>().value_or("");
  return is_utf8(text) ? std::string(text) : std::string();
}

/// Whether a key describes the file and not the model.
bool is_container_key(std::string_view key) noexcept {
  return key == keys::general_alignment || is_split_key(key);
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> metadata_as_text(
    const Model& model, const std::function<TensorType(const TensorInfo&)>& type_in_result) {
  std::vector<std::pair<std::string, std::string>> entries;
  ModelWriter exact = ModelWriter::with_keys_of(model);
  exact.remove(keys::general_alignment);
  formats::set_file_type(model, exact, type_in_result);
  for (const KeyValue& entry : exact.metadata()) {
    std::string text = readable_text(entry.value);
    const bool is_taken = entry.key == "format" || entry.key == exact_metadata_key;
    if (!text.empty() && !is_taken) entries.emplace_back(entry.key, std::move(text));
  }
  INGOT_TRY(const std::vector<std::byte> header, exact.serialise_header());
  entries.emplace_back(exact_metadata_key, base64_encode(header));
  return entries;
}

Result<void> add_exact_metadata(std::string_view base64, ModelWriter& keys) {
  const auto header = base64_decode(base64);
  if (!header) return fail(Errc::safetensors_header, std::string(exact_metadata_key), "not base64");
  const Result<Model> model = Model::open_memory(*header);
  if (!model) {
    return fail(Errc::safetensors_header, std::string(exact_metadata_key), model.error().message());
  }
  for (const KeyValue& entry : model->metadata()) {
    if (!is_container_key(entry.key)) keys.set_value(entry.key, entry.value);
  }
  return {};
}

}  // namespace ingot::formats
