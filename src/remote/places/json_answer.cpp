// SPDX-License-Identifier: MIT
#include "remote/places/json_answer.hpp"

#include <optional>

#include "base/strings.hpp"
#include "remote/address/address.hpp"

namespace ingot::remote {
namespace {

const nlohmann::json* member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Result<nlohmann::json> parse_json_answer(std::string_view text, const std::string& subject) {
  if (text.size() > max_json_bytes)
    return fail(Errc::answer_invalid, subject, "the JSON is too long");
  if (is_json_deeper(text, max_json_depth)) {
    return fail(Errc::answer_invalid, subject, "the JSON is nested too deep");
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(Errc::answer_invalid, subject, "expected JSON");
  return parsed;
}

std::string json_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

RemoteFile file_of(const nlohmann::json& entry, const char* name, const char* size,
                   const char* sha256) {
  return {text_member(entry, name),
          number_member(entry, size),
          parse_sha256(text_member(entry, sha256)),
          {}};
}

std::string text_member(const nlohmann::json& object, const char* name) {
  const nlohmann::json* const found = member(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::uint64_t> number_member(const nlohmann::json& object, const char* name) {
  const nlohmann::json* const found = member(object, name);
  if (found == nullptr || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool flag_member(const nlohmann::json& object, const char* name) {
  const nlohmann::json* const found = member(object, name);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const nlohmann::json& list_member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json* const found = member(object, name);
  return found != nullptr && found->is_array() ? *found : none;
}

}  // namespace ingot::remote
