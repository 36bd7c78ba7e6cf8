// SPDX-License-Identifier: MIT
// The parts of a command. A new one is a file command_<name>.cpp, which defines add_<name>_command,
// and a row in commands.def.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.hpp"

// CLI11 takes seconds to compile, so only the files that need more than its names include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ingot::cli {

#define INGOT_COMMAND(name) void add_##name##_command(CLI::App& program, Console& console);
#include "commands.def"
#undef INGOT_COMMAND

/// Runs another command line, without the name of the program, and returns its status.
[[nodiscard]] ExitCode run_words(Console& console, const std::vector<std::string>& words);

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

namespace detail {

using TakeWord = std::function<void(std::size_t position)>;
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string_view value_name,
                        const std::vector<std::string>& words, TakeWord take,
                        std::string_view description);

using TakeNumber = std::function<void(std::uint64_t number)>;
CLI::Option* add_number(CLI::App& app, const std::string& name, std::uint64_t lowest,
                        std::uint64_t highest, TakeNumber take, std::string_view description);

}  // namespace detail

/// Declares `ingot NAME`; its help ends with `examples`.
CLI::App& add_command(CLI::App& program, const std::string& name, std::string_view description,
                      std::string_view examples);

/// Sets the action of the command, which runs after its options are read.
void on_run(CLI::App& command, std::function<void()> run);

/// Makes an option or argument one that must be given.
void require(CLI::Option* option);

/// An option without a value.
CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& target,
                        std::string_view description);

/// An option that takes one of a few words; the last one given counts. `{}` in the description
/// becomes the list of the words.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string_view value_name,
                        T& target, const Choices<std::type_identity_t<T>>& choices,
                        std::string_view description) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    values.push_back(value);
  }
  const auto take = [values, &target](std::size_t position) { target = values[position]; };
  return detail::add_choice(app, name, value_name, words, take, description);
}

/// An option that takes a whole number; the last one given counts.
template <class T>
CLI::Option* add_number(CLI::App& app, const std::string& name, T& target, std::uint64_t lowest,
                        std::uint64_t highest, std::string_view description) {
  const auto take = [&target](std::uint64_t number) { target = static_cast<T>(number); };
  return detail::add_number(app, name, lowest, highest, take, description);
}

/// An option that takes any text; the last one given counts. The second form tells whether it was
/// given, the third gathers all.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      std::string_view value_name, std::string_view description);
CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      std::string_view value_name, std::string_view description);
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                       std::string_view value_name, std::string_view description);

/// The same, of which one value may be several with commas between them.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                      std::string_view value_name, std::string_view description);

/// A positional argument, or several of the same kind.
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& target,
                          std::string_view description);
CLI::Option* add_argument(CLI::App& app, const std::string& name,
                          std::optional<std::string>& target, std::string_view description);
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                          std::string_view description);

/// The positional argument FILE, or FILE... if `target` holds several.
CLI::Option* add_file(CLI::App& app, std::string& target);
CLI::Option* add_files(CLI::App& app, std::vector<std::string>& target);

}  // namespace ingot::cli
