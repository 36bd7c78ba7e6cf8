// SPDX-License-Identifier: MIT
#include <string>
#include <utility>

#include "check/inspection.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::check {
namespace {

constexpr std::size_t max_templates = 8;

/// The name of the template behind a key; nothing if it is another key.
std::optional<std::string_view> template_name(std::string_view key) noexcept {
  if (key == keys::tokenizer_chat_template) return std::string_view();
  if (!key.starts_with(keys::tokenizer_chat_template) ||
      key[keys::tokenizer_chat_template.size()] != '.')
    return std::nullopt;
  return key.substr(keys::tokenizer_chat_template.size() + 1);
}

TemplateFacts read_template(const Model& model, const KeyValue& entry, std::string_view name,
                            std::string_view source) {
  TemplateFacts facts;
  facts.entry = &entry;
  Result<ChatTemplate> chat = ChatTemplate::make(model, std::string(source), std::string(name));
  if (!chat) {
    facts.error = std::move(chat.error());
    return facts;
  }
  facts.profile = profile_chat(*chat);
  facts.remarks = lint_chat(*chat);
  facts.control_texts = control_texts(*chat);
  facts.variables = chat->variables();
  return facts;
}

}  // namespace

std::vector<TemplateFacts> read_templates(const Model& model) {
  std::vector<TemplateFacts> templates;
  const auto files = model.files();
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (const KeyValue& entry : files[file].metadata) {
      const auto name = template_name(entry.key);
      const auto source = entry.value.get<std::string_view>();
      if (!name || !source) continue;
      if (templates.size() == max_templates) return templates;
      templates.push_back(read_template(model, entry, *name, *source));
      templates.back().file = file;
    }
  }
  return templates;
}

}  // namespace ingot::check
