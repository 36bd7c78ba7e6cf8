// SPDX-License-Identifier: MIT
#include "commands/report/template_panel.hpp"

#include <algorithm>
#include <array>
#include <ingot/chat_profile.hpp>
#include <ingot/text.hpp>
#include <string>
#include <string_view>

#include "commands/report/check_panel.hpp"

namespace ingot::cli {
namespace {

/// Models rarely have more templates; each takes a millisecond.
constexpr std::size_t max_templates = 8;
/// Longer messages are cut.
constexpr std::size_t message_columns = 240;

struct Feature {
  ChatFeature feature;
  std::string_view description;
};

constexpr std::array features = {
#define INGOT_CHAT_FEATURE(enumerator, name, description) \
  Feature{ChatFeature::enumerator, description},
#include <ingot/chat_features.def>
#undef INGOT_CHAT_FEATURE
};

/// Why no conversation can be rendered; empty if one can.
std::string problem_of(const Error& error) {
  const std::string place =
      error.line == 0 ? std::string() : "line " + std::to_string(error.line) + ": ";
  return place + escape_shortened(error.detail, message_columns);
}

void write_features(JsonStream& json, const ChatProfile& profile) {
  json.objects("features", features, [&](const Feature& row) {
    json.member("name", name_of(row.feature));
    json.member("supported", profile.supports(row.feature));
    json.member("description", row.description);
  });
}

void write_template(JsonStream& json, const Model& model, const std::string& name) {
  const auto object = json.object();
  json.member("name", name);
  const Result<ChatTemplate> chat = ChatTemplate::make(model, name);
  const ChatProfile profile = chat ? profile_chat(*chat) : ChatProfile();
  const Error* error = chat ? nullptr : &chat.error();
  if (profile.failure && !profile.reached_limit) error = &*profile.failure;
  json.key("problem");
  error == nullptr ? json.null() : json.value(problem_of(*error));
  json.member("reached_limit", profile.reached_limit);
  write_features(json, profile);
}

}  // namespace

void write_template_panel(JsonStream& json, const Model& model) {
  const std::vector<std::string> names = chat_template_names(model);
  json.key("chat_template");
  if (names.empty()) return json.null();
  const auto panel = json.object();
  json.begin_array("templates");
  for (std::size_t i = 0; i < std::min(names.size(), max_templates); ++i) {
    write_template(json, model, names[i]);
  }
  json.end();
  json.key("findings");
  write_findings(json, model,
                 [](const CheckRule& rule) { return rule.name.starts_with("template_"); });
}

}  // namespace ingot::cli
