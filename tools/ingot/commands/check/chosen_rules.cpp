// SPDX-License-Identifier: MIT
#include "commands/check/chosen_rules.hpp"

#include <algorithm>
#include <ingot/text.hpp>

#include "cli/command.hpp"

namespace ingot::cli {

std::string ChosenRules::problem(bool with_data) const {
  for (const auto* names : {&ignored, &only}) {
    for (const std::string& name : *names) {
      const CheckRule* rule = find_check_rule(name);
      if (rule == nullptr) {
        return "there is no rule \"" + escape(name) + "\"; --list-rules prints them";
      }
      if (rule->is_refusal && names == &ignored) {
        return escape(name) + " cannot be ignored: files that break it do not open";
      }
      if (rule->source == RuleSource::data && names == &only && !with_data) {
        return "--only " + escape(name) + " goes with --data, which reads the weights";
      }
    }
  }
  return {};
}

bool ChosenRules::wants(const CheckRule& rule) const {
  const auto names = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), rule.name) != list.end();
  };
  return (only.empty() || names(only)) && !names(ignored);
}

void add_rule_options(CLI::App& command, ChosenRules& rules) {
  add_list(command, "--ignore", rules.ignored, "RULE", "Leave out a rule");
  add_list(command, "--only", rules.only, "RULE", "Apply this rule alone, and others so named");
}

}  // namespace ingot::cli
