// SPDX-License-Identifier: MIT
// Help texts and the answers to wrong usage, made from the declarations of the commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ingot::cli {

/// The help of the program or of one of its commands.
[[nodiscard]] std::string help_text(const CLI::App& app, const Console& console);

/// Adds the command `help [COMMAND]`.
void add_help_command(CLI::App& program, Console& console);

/// One line that describes the fault in the arguments `words` and the right form.
[[nodiscard]] std::string usage_message(const CLI::App& program, const CLI::ParseError& error,
                                        const std::vector<std::string>& words);

/// The candidate nearest to `word`; empty if none is near.
[[nodiscard]] std::string nearest_name(std::string_view word,
                                       const std::vector<std::string>& candidates);

/// `; did you mean "x"?` with the candidate nearest to `word`, or nothing if none is near.
[[nodiscard]] std::string suggest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace ingot::cli
