// SPDX-License-Identifier: MIT
#include "cli/declaration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr char word_separator = '|';

/// Whether an option is the help of a command, which the options of the program already list.
bool is_repeated(const CLI::App& app, const CLI::Option* option) {
  return app.get_parent() != nullptr && option == app.get_help_ptr();
}

template <class App>
auto find_options(App& app) {
  return app.get_options([&app](const CLI::Option* option) {
    return !option->get_positional() && !is_repeated(app, option);
  });
}

}  // namespace

std::string positional_term(const CLI::Option& option) {
  std::string term = option.get_name(true, false);
  if (option.get_items_expected_max() > 1) term += "...";
  return option.get_required() ? term : "[" + term + "]";
}

std::vector<CLI::Option*> options_of(CLI::App& app) { return find_options(app); }
std::vector<const CLI::Option*> options_of(const CLI::App& app) { return find_options(app); }

std::vector<CLI::Option*> options_behind(CLI::App& program, CLI::App* command) {
  std::vector<CLI::Option*> options;
  if (command != nullptr) options = options_of(*command);
  for (CLI::Option* option : options_of(program)) options.push_back(option);
  return options;
}

CLI::Option* find_option(CLI::App& program, CLI::App* command, std::string_view name) {
  for (CLI::Option* option : options_behind(program, command)) {
    const std::vector<std::string> names = names_of(*option);
    if (std::ranges::find(names, name) != names.end()) return option;
  }
  return nullptr;
}

int value_count(const CLI::Option* option) {
  return option == nullptr || !takes_value(*option) ? 0
                                                    : std::max(1, option->get_items_expected_min());
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

void note_words(CLI::Option& option, const std::vector<std::string>& words) {
  // CLI11 keeps no list of words that a callback checks. A validator that accepts everything has a
  // name, which can be that list; its empty description stays out of the help.
  const auto accept = [](std::string&) { return std::string(); };
  const std::string list = joined(words, std::string(1, word_separator));
  option.check(CLI::Validator(accept, std::string(), list));
}

bool is_path_name(std::string_view value_name) {
  constexpr std::array<std::string_view, 18> names = {
      "A",     "B",   "BASE", "COPY", "DIR",  "FILE",   "FOLDER", "IN",  "MANIFEST",
      "MODEL", "OLD", "OUT",  "PATH", "PLAN", "PREFIX", "RECIPE", "REF", "SHARD"};
  return std::ranges::find(names, value_name) != names.end();
}

std::vector<std::string> words_of(CLI::Option& option) {
  std::string list;
  try {
    list = option.get_validator(0)->get_name();
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  return CLI::detail::split(list, word_separator);
}

}  // namespace ingot::cli
