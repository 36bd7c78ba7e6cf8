// SPDX-License-Identifier: MIT
#include "commands/check/check_rule_list.hpp"

#include <ingot/check.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/json_stream.hpp"
#include "cli/table.hpp"

namespace ingot::cli {

void list_check_rules(Console& console) {
  const std::span<const CheckRule> rules = check_rules();
  const auto severity_of = [](const CheckRule& rule) {
    return rule.is_refusal ? std::string_view("refused") : name_of(rule.severity);
  };
  if (!console.is_json()) {
    const Column columns[] = {{"rule"},
                              {"severity"},
                              {"source", Align::left, Narrow::hide},
                              {"category", Align::left, Narrow::hide},
                              {"requirement", Align::left, Narrow::wrap}};
    return print_table(console, columns, rules.size(),
                       [&](std::size_t row, std::span<std::string> cells) {
                         cells[0] = rules[row].name;
                         cells[1] = severity_of(rules[row]);
                         cells[2] = name_of(rules[row].source);
                         cells[3] = name_of(rules[row].category);
                         cells[4] = rules[row].title;
                       });
  }
  JsonStream json(console.out());
  json.objects(rules, [&](const CheckRule& rule) {
    json.member("rule", rule.name);
    json.member("severity", severity_of(rule));
    json.member("source", name_of(rule.source));
    json.member("category", name_of(rule.category));
    json.member("title", rule.title);
    json.member("remedy", rule.remedy);
  });
}

}  // namespace ingot::cli
