// SPDX-License-Identifier: MIT
// The words of a command line, told apart by the declaration of its command.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "commands/plan_work/work_plan.hpp"

namespace ingot::cli {

class CommandLine {
 public:
  using Words = std::vector<std::string>;

  /// `words` begin behind the name of the command. The error is a line that says what is wrong.
  [[nodiscard]] static tl::expected<CommandLine, std::string> read(
      const WorkCommand& command, std::span<const std::string> words, Console& console);

  [[nodiscard]] const Words& arguments() const noexcept { return arguments_; }
  [[nodiscard]] bool has(std::string_view option) const;
  /// The values of all options of that long name.
  [[nodiscard]] Words values(std::string_view option) const;
  /// The value that counts, the last one; empty if there is none.
  [[nodiscard]] std::string value(std::string_view option) const;

  /// The command, some arguments, all options but some, and further options. Arguments that look
  /// like options come last, behind `--`.
  [[nodiscard]] Words with(const Words& arguments, std::initializer_list<std::string_view> without,
                           const Words& more) const;

 private:
  struct Given {
    std::string name;  ///< "--output" of -o
    Words words;       ///< As it was given: the name and a value.
  };

  std::string command_;
  Words arguments_;
  std::vector<Given> options_;
};

}  // namespace ingot::cli
