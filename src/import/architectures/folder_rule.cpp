// SPDX-License-Identifier: MIT
#include "import/architectures/folder_rule.hpp"

#include <utility>

#include "import/architectures/rule_values.hpp"

namespace ingot::hf {

Result<FolderRule> folder_rule(const nlohmann::ordered_json& value) {
  FolderRule rule;
  if (!value.is_object()) return wrong("a rule of folders");
  for (const auto& [name, content] : value.items()) {
    if (name == "when") {
      INGOT_TRY(rule.when, expression_of(content));
    } else if (name == "class") {
      INGOT_TRY(rule.model_class, text_of(content));
    } else if (name == "tokenizer") {
      INGOT_TRY(rule.tokenizer_class, text_of(content));
    } else if (name == "members") {
      INGOT_TRY(rule.preferred, texts_of(content));
    } else if (name == "names" && content.is_object()) {
      for (const auto& [kind, text] : content.items()) {
        INGOT_TRY(rule.names_by_kind[kind], text_of(text));
      }
    } else if (name == "set" && content.is_object()) {
      for (const auto& [member, text] : content.items()) {
        INGOT_TRY(Expression expression, expression_of(text));
        rule.members.emplace_back(member, std::move(expression));
      }
    } else {
      return wrong("a known member of a rule of folders instead of " + name);
    }
  }
  return rule;
}

}  // namespace ingot::hf
