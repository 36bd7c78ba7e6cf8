// SPDX-License-Identifier: MIT
// What the declarations of the commands say, for everything that is made from them: help texts,
// manual pages, completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ingot::cli {

/// "FILE", "FILE...", "[GLOB...]"
[[nodiscard]] std::string positional_term(const CLI::Option& option);

/// The positional arguments, in their order.
[[nodiscard]] std::vector<CLI::Option*> positionals(CLI::App& app);
[[nodiscard]] std::vector<const CLI::Option*> positionals(const CLI::App& app);

/// The options but not the arguments; of a command without -h, which is one of every command.
[[nodiscard]] std::vector<CLI::Option*> options_of(CLI::App& app);
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& app);

[[nodiscard]] std::vector<CLI::App*> commands_of(CLI::App& program);
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// "-j", "--threads"
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);

[[nodiscard]] bool takes_value(const CLI::Option& option);

/// The words that are the only values of an option; empty if there are others.
[[nodiscard]] std::vector<std::string> words_of(CLI::Option& option);

/// Notes on the option that these are the only values; `words_of` finds them.
void note_words(CLI::Option& option, const std::vector<std::string>& words);

}  // namespace ingot::cli
