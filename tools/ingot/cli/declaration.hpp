// SPDX-License-Identifier: MIT
// What the declarations of the commands say, for everything that is made from them: help texts,
// manual pages, completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// "FILE", "FILE...", "[GLOB...]"
[[nodiscard]] std::string positional_term(const CLI::Option& option);

/// The positional arguments, in their order.
template <class App>
[[nodiscard]] auto positionals(App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

/// The options but not the arguments; of a command without -h, which is one of every command.
[[nodiscard]] std::vector<CLI::Option*> options_of(CLI::App& app);
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& app);

template <class App>
[[nodiscard]] auto commands_of(App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

/// The command of that name, or nullptr.
template <class App>
[[nodiscard]] App* find_command(App& program, std::string_view name) {
  for (App* command : commands_of(program)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

/// The options that may stand behind a command, its own and those of every command; before one, for
/// nullptr, the latter.
[[nodiscard]] std::vector<CLI::Option*> options_behind(CLI::App& program, CLI::App* command);
/// That of them which has the name, or nullptr.
[[nodiscard]] CLI::Option* find_option(CLI::App& program, CLI::App* command, std::string_view name);

/// "-j", "--threads"
[[nodiscard]] std::vector<std::string> names_of(const CLI::Option& option);

[[nodiscard]] bool takes_value(const CLI::Option& option);
/// Words after an option that belong to it; none for nullptr.
[[nodiscard]] int value_count(const CLI::Option* option);

/// Whether values called so, such as FILE, are names of files and folders.
[[nodiscard]] bool is_path_name(std::string_view value_name);

/// The words that are the only values of an option; empty if there are others.
[[nodiscard]] std::vector<std::string> words_of(CLI::Option& option);

/// Notes on the option that these are the only values; `words_of` finds them.
void note_words(CLI::Option& option, const std::vector<std::string>& words);

}  // namespace ingot::cli
