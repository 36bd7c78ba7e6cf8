// SPDX-License-Identifier: MIT
// How each command is cut into tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/plan_work/given_words.hpp"
#include "commands/plan_work/work_plan.hpp"

namespace ingot::cli {

/// A command that is being cut.
struct Cutting {
  const CommandLine& line;
  std::uint64_t jobs;  ///< About how many tasks are wanted.
  Console& console;
  WorkPlan& plan;
};

// A function for each command that can be cut; the last three are in cut_evaluation.cpp.
ExitCode cut_check(Cutting& cutting);
ExitCode cut_convert(Cutting& cutting);
ExitCode cut_hash(Cutting& cutting);
ExitCode cut_quantize(Cutting& cutting);
ExitCode cut_evaluate(Cutting& cutting);
ExitCode cut_imatrix(Cutting& cutting);
ExitCode cut_sensitivity(Cutting& cutting);

/// The states of files, and of those that options name, but for files of servers, whose names are
/// no files here.
[[nodiscard]] std::vector<WorkInput> inputs_of(const CommandLine& line,
                                               std::vector<std::string> paths);

/// The share of task `i` of `count` tasks of `total` things: where it begins.
[[nodiscard]] constexpr std::size_t share_begin(std::size_t total, std::size_t i,
                                                std::size_t count) noexcept {
  return total / count * i + total % count * i / count;
}

}  // namespace ingot::cli
