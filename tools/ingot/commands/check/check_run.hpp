// SPDX-License-Identifier: MIT
// One run of `ingot check` over files, folders and repositories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ingot/check.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "commands/check/check_baseline.hpp"
#include "commands/check/check_report.hpp"
#include "commands/check/chosen_rules.hpp"

namespace ingot::cli {

/// What the user asks for.
struct CheckArguments {
  std::vector<std::string> files;
  CheckOptions check;
  std::vector<std::string> fail_on;
  ChosenRules rules;
  std::string template_file;
  std::string projector;
  std::string baseline;
  std::string new_baseline;
  std::optional<std::uint64_t> seconds = {};  ///< The longest time for the weights of a model.
  bool may_replace = false;
  bool is_strict = false;
  bool is_sarif = false;
  bool lists_rules = false;
};

/// The findings that make the answer "no".
struct FailOn {
  bool error = false;
  bool warning = false;
  bool security = false;
};

/// One run over all files.
struct CheckRun {
  const CheckArguments& options;
  Console& console;
  CheckReport& report;
  FailOn fail_on;
  CheckBaseline known = {};               ///< Findings that are not reported.
  CheckBaseline found = {};               ///< Findings for a new baseline.
  std::vector<std::string> waiting = {};  ///< Files that will be checked at the same time.
  ExitCode code = ExitCode::done;
};

/// Checks a place that was named: a file, a folder of models, or a repository. Files may wait for
/// others that are checked at the same time.
void check_place(CheckRun& run, const std::string& place);

/// Checks the files that wait, with all threads, and reports them in their order.
void check_waiting(CheckRun& run);

/// References to the GGUF models of a repository, each with file and commit; none for other places,
/// and for a repository that is the folder of one model, or cannot be listed.
[[nodiscard]] std::vector<std::string> models_of_repository(Console& console,
                                                            const std::string& place);

}  // namespace ingot::cli
