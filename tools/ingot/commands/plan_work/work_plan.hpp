// SPDX-License-Identifier: MIT
// Work that is cut into tasks: the file that `ingot plan-work` prints and `ingot run-work` reads.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// A file or folder that a task reads, and what tells whether it is still the same one.
struct WorkInput {
  std::string path;
  std::string state;  ///< As state_of_input has it.
};

/// A command of the program, which may be repeated: what it writes is there whole or not at all.
struct WorkTask {
  std::vector<std::string> words;  ///< The command and its arguments; none in a join that needs no
                                   ///< more than the tasks.
  std::vector<WorkInput> inputs = {};
  std::vector<std::string> outputs = {};
  bool is_printed = false;  ///< What it prints goes into its only output.
};

struct WorkPlan {
  std::string folder;  ///< For what is known of tasks that are done, and for parts of results.
  std::vector<WorkTask> tasks = {};
  WorkTask join = {};
  bool is_list = false;  ///< What tasks print are elements of one JSON list.
};

struct Cutting;

/// A command that tasks may run. A plan runs no other, whatever its file says.
struct WorkCommand {
  std::string_view name;
  void (*declare)(CLI::App& program, Console& console);
  /// Fills a plan; what is wrong is reported already. nullptr: the command only joins.
  ExitCode (*cut)(Cutting& cutting) = nullptr;
  /// The highest exit status that is an answer, and no failure.
  ExitCode last_answer = ExitCode::done;
};
/// nullptr if `name` is none.
[[nodiscard]] const WorkCommand* find_work_command(std::string_view name);
/// "check, convert, ...", those that can be cut.
[[nodiscard]] std::string list_work_commands();

/// The present state of an input: the stamp of a file; of a set of shards, which are read together,
/// and of a folder a digest of what all files have; empty if it is neither here.
[[nodiscard]] std::string state_of_input(const std::string& path);

void write_work_plan(JsonStream& json, const WorkPlan& plan);
/// Reads such a file; the error is one line that says what is wrong with it.
[[nodiscard]] tl::expected<WorkPlan, std::string> read_work_plan(const std::string& path);

}  // namespace ingot::cli
