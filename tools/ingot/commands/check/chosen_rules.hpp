// SPDX-License-Identifier: MIT
// The rules that a user of `ingot check` leaves out or names.
#pragma once

#include <ingot/check.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot::cli {

struct ChosenRules {
  std::vector<std::string> ignored;
  std::vector<std::string> only;

  /// What is wrong with the names; empty if nothing.
  ///
  /// @param with_data  whether the weights are read, without which rules of them find nothing.
  [[nodiscard]] std::string problem(bool with_data) const;
  [[nodiscard]] bool wants(const CheckRule& rule) const;
};

/// Declares `--ignore` and `--only`.
void add_rule_options(CLI::App& command, ChosenRules& rules);

}  // namespace ingot::cli
