// SPDX-License-Identifier: MIT
#include "huggingface/folder/json_text.hpp"

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {

bool is_nested_too_deep(std::string_view text) noexcept {
  return is_json_deeper(text, max_json_depth);
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& subject) {
  if (is_nested_too_deep(text)) {
    return refuse(subject, "the JSON is nested deeper than " + std::to_string(max_json_depth));
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return refuse(subject, "not JSON");
  return parsed;
}

const nlohmann::json* find_member(const nlohmann::json& object, std::string_view name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<nlohmann::json> read_json(const ModelFolder& folder, std::string_view file,
                                 std::uint64_t max_bytes) {
  INGOT_TRY(const std::string text, folder.read_text(file, max_bytes));
  return parse_json(text, folder.locate(file));
}

}  // namespace ingot::huggingface
