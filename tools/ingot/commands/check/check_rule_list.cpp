// SPDX-License-Identifier: MIT
#include "commands/check/check_rule_list.hpp"

#include <ingot/check.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cli/table.hpp"
#include "commands/json_members.hpp"

namespace ingot::cli {

void list_check_rules(Console& console) {
  const std::span<const CheckRule> rules = check_rules();
  if (!console.is_json()) {
    const Column columns[] = {{"rule"},
                              {"severity"},
                              {"source", Align::left, Narrow::hide},
                              {"category", Align::left, Narrow::hide},
                              {"requirement", Align::left, Narrow::wrap}};
    return print_table(console, columns, rules.size(),
                       [&](std::size_t row, std::span<std::string> cells) {
                         cells[0] = rules[row].name;
                         cells[1] = rules[row].severity_name();
                         cells[2] = name_of(rules[row].source);
                         cells[3] = name_of(rules[row].category);
                         cells[4] = rules[row].title;
                       });
  }
  JsonStream json(console.out());
  json.objects(rules, [&](const CheckRule& rule) { write_members(json, rule); });
}

}  // namespace ingot::cli
