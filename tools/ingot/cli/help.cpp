// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <ingot/text.hpp>
#include <memory>
#include <numeric>

#include "cli/declaration.hpp"
#include "cli/option_group.hpp"
#include "cli/other_words.hpp"
#include "cli/wrap.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// One entry of a list: a term, and its meaning beside it.
std::string entry(const Console& console, const std::string& term, std::string_view meaning) {
  const std::size_t indent = console.width() < 60 ? 12 : 28;
  std::string line = "  " + console.paint(Style::accent, term);
  if (term.size() + 4 > indent) {
    line += "\n" + std::string(indent, ' ');
  } else {
    line += std::string(indent - 2 - term.size(), ' ');
  }
  return line + wrap(meaning, console.width(), indent, indent) + "\n";
}

/// The end of a help text; its lines are made for a usual terminal.
std::string notes(const Console& console, const std::string& text) {
  constexpr std::size_t usual_width = 80;
  return console.width() < usual_width ? wrap_notes(text, console.width()) : text;
}

/// "-j, --threads N"
std::string option_term(const CLI::Option& option) {
  std::string term = joined(names_of(option), ", ");
  if (option.get_snames().empty()) term = "    " + term;
  if (takes_value(option)) term += " " + option.get_type_name();
  return term;
}

/// The options of the usual group, or of another one, which is their heading.
std::string options_section(const CLI::App& app, std::string_view heading, const Console& console) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) {
    const bool is_remote = option->get_group() == remote_group;
    if (is_remote != heading.starts_with(remote_group)) continue;
    const std::string term = option_term(*option);
    text += entry(console, term, option->get_description());
  }
  return text.empty() ? text : "\n" + console.paint(Style::strong, heading) + "\n" + text;
}

/// A row of commands.def: the title of a group, or a command.
struct Listed {
  std::string_view title;
  std::string_view command;
};

constexpr std::array listed_commands = {
#define INGOT_COMMAND_GROUP(title) Listed{title, {}},
#define INGOT_COMMAND(name) Listed{{}, #name},
#include "commands.def"
#undef INGOT_COMMAND
};

/// All commands by their groups.
std::string list_of_commands(const CLI::App& program, const Console& console) {
  std::string text;
  const std::vector<const CLI::App*> commands = commands_of(program);
  for (const Listed& row : listed_commands) {
    if (!row.title.empty()) text += std::string(row.title) + ":\n";
    std::string name(row.command);
    std::ranges::replace(name, '_', '-');
    const auto command = std::ranges::find(commands, name, &CLI::App::get_name);
    if (command != commands.end()) text += entry(console, name, (*command)->get_description());
  }
  return text;
}

std::string program_help(const CLI::App& program, const Console& console) {
  std::string text = program.get_description() + "\n\n" + console.paint(Style::strong, "Usage:") +
                     " ingot COMMAND [OPTIONS] FILE...\n\n" +
                     console.paint(Style::strong, "Commands:") + "\n" +
                     list_of_commands(program, console);
  text += options_section(program, "Options of every command:", console);
  text += options_section(program, std::string(remote_group) + ":", console);
  return text + "\n" + notes(console, program.get_footer()) + "\n";
}

/// Their names alone: the help of the program explains them.
std::string common_options(const CLI::App& program, const Console& console) {
  std::string names;
  for (const CLI::Option* option : options_of(program)) {
    const bool is_listed =
        option != program.get_version_ptr() && option->get_group() != remote_group;
    if (is_listed) names += " " + names_of(*option).back();
  }
  const std::string heading = console.paint(Style::strong, "Every command:");
  return wrap(heading + names + "; see 'ingot --help'", console.width(), 2) + "\n";
}

std::string command_help(const CLI::App& command, const Console& console) {
  std::string usage = "ingot " + command.get_name() + " [OPTIONS]";
  std::string arguments;
  for (const CLI::Option* option : positionals(command)) {
    const std::string term = positional_term(*option);
    usage += " " + term;
    arguments += entry(console, term, option->get_description());
  }
  const std::string heading = console.paint(Style::strong, "Usage:");
  std::string text = wrap(command.get_description(), console.width()) + "\n\n" +
                     wrap(heading + " " + usage, console.width(), 7) + "\n";
  if (!arguments.empty()) {
    text += "\n" + console.paint(Style::strong, "Arguments:") + "\n" + arguments;
  }
  text += options_section(command, "Options:", console);
  if (!command.get_footer().empty()) text += "\n" + notes(console, command.get_footer()) + "\n";
  return text + "\n" + common_options(*command.get_parent(), console);
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(program)) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options({})) {
    const std::vector<std::string> own = names_of(*option);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

/// The number of insertions, deletions, replacements and swaps of neighbours that lead from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) steps[i][0] = i;
  std::iota(steps[0].begin(), steps[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
      }
    }
  }
  return steps[a.size()][b.size()];
}

/// The command that the user named, or nullptr.
const CLI::App* chosen_command(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  return chosen.empty() ? nullptr : chosen.back();
}

/// The name of an option, without its value.
std::string name_of_option(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

std::string unknown_option(const CLI::App& program, const std::string& argument) {
  const std::string name = name_of_option(argument);
  std::vector<std::string> candidates = option_names(program);
  const CLI::App* command = chosen_command(program);
  std::string message = "there is no option \"" + escape(name) + "\"";
  if (command != nullptr) {
    const std::vector<std::string> own = option_names(*command);
    candidates.insert(candidates.end(), own.begin(), own.end());
    message = command->get_name() + ": " + message;
  }
  if (command != nullptr && !other_option(command->get_name(), name).empty()) {
    return message + "; here it is " + std::string(other_option(command->get_name(), name));
  }
  if (!other_command(name).empty()) return message + "; use " + std::string(other_command(name));
  // Every option of one letter is near to every other.
  const std::string suggestion = name.size() <= 2 ? "" : suggest(name, candidates);
  if (!suggestion.empty()) return message + suggestion;
  const std::string subject = command == nullptr ? "" : " " + command->get_name();
  return message + "; 'ingot" + (command == nullptr ? "" : " help") + subject +
         (command == nullptr ? " --help'" : "'") + " lists them";
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
  const std::string message = "there is no command \"" + escape(word) + "\"";
  if (!other_command(word).empty()) return message + "; use " + std::string(other_command(word));
  if (word.find_first_of("./") != std::string::npos) {
    return "there is no file \"" + escape(word) + "\"; 'ingot --help' lists the commands";
  }
  const std::string suggestion = suggest(word, command_names(program));
  return message + (suggestion.empty() ? "; 'ingot --help' lists them" : suggestion);
}

bool is_option(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-' && argument != "--";
}

std::string unexpected_argument(const CLI::App& program) {
  const std::vector<std::string> rest = program.remaining(true);
  const auto option = std::find_if(rest.begin(), rest.end(), is_option);
  const CLI::App* command = chosen_command(program);
  const auto word = std::find_if(rest.begin(), rest.end(), [](const std::string& argument) {
    return argument.size() < 2 || argument.front() != '-';
  });
  const bool is_other = option != rest.end() && !other_command(name_of_option(*option)).empty();
  if (command == nullptr && word != rest.end() && !is_other) return unknown_command(program, *word);
  if (option != rest.end()) return unknown_option(program, *option);
  if (command == nullptr || word == rest.end()) return "the arguments make no sense";
  return fmt::format("{}: \"{}\" is one argument too many; see 'ingot help {}'",
                     command->get_name(), escape(*word), command->get_name());
}

/// An operand that looks like an option, because "--" ended the options; empty unless there is one
/// operand too many.
std::string late_option(const CLI::App& program, const std::vector<std::string>& words) {
  const std::vector<std::string> rest = program.remaining(true);
  const auto late = std::find_if(
      std::find(words.begin(), words.end(), "--"), words.end(), [&](const std::string& word) {
        return is_option(word) && std::find(rest.begin(), rest.end(), word) != rest.end();
      });
  const CLI::App* command = chosen_command(program);
  if (late == words.end() || command == nullptr) return {};
  return fmt::format(
      "{}: \"{}\" is one operand too many: \"--\" ends the options; write those before it",
      command->get_name(), escape_shortened(*late, 60));
}

/// Whether an option was given that other tools have, and this command under another name.
bool has_other_option(const CLI::App& program) {
  const CLI::App* command = chosen_command(program);
  if (command == nullptr) return false;
  const std::vector<std::string> rest = program.remaining(true);
  const auto option = std::find_if(rest.begin(), rest.end(), is_option);
  return option != rest.end() &&
         !other_option(command->get_name(), name_of_option(*option)).empty();
}

/// What to write instead of a file's name that begins like an option; empty if there is none.
std::string hint_dash(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!word.starts_with('-') || !std::filesystem::exists(word, ignored)) continue;
    return fmt::format("; the file \"{0}\" is written ./{0}", escape(word));
  }
  return {};
}

std::string missing_argument(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = chosen_command(program);
  if (command == nullptr) return "a command is missing; 'ingot --help' lists them";
  std::string usage;
  std::string missing;
  for (const CLI::Option* option : positionals(*command)) {
    usage += " " + positional_term(*option);
    if (missing.empty() && option->get_required() && option->count() == 0) {
      missing = option->get_name(true, false);
    }
  }
  for (const CLI::Option* option : command->get_options()) {
    if (!missing.empty() || option->get_positional() || !option->get_required()) continue;
    if (option->count() == 0) missing = option->get_name(false, true);
  }
  return fmt::format("{}: {} is missing; the usage is: ingot {} [OPTIONS]{}{}", command->get_name(),
                     missing, command->get_name(), usage, hint_dash(words));
}

}  // namespace

std::string help_text(const CLI::App& app, const Console& console) {
  return app.get_parent() == nullptr ? program_help(app, console) : command_help(app, console);
}

void add_help_command(CLI::App& program, Console& console) {
  auto topic = std::make_shared<std::string>();
  CLI::App& command = *program.add_subcommand("help", "Explain a command, with examples");
  command.add_option("COMMAND", *topic, "The command; without one, list them all");
  command.callback([topic, &program, &console] {
    const CLI::App* subject = &program;
    if (!topic->empty()) subject = find_command(program, *topic);
    if (subject == nullptr) {
      console.finish(console.refuse_usage(unknown_command(program, *topic)));
      return;
    }
    console.out().write(help_text(*subject, console));
  });
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  const bool is_unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (std::string late = is_unexpected ? late_option(program, words) : ""; !late.empty()) {
    return late;
  }
  // The value of an option that is not known may have been taken for an argument that is wrong.
  if (has_other_option(program)) return unexpected_argument(program);
  if (is_unexpected) return unexpected_argument(program);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    // An option that is not known may have taken the argument along.
    const std::vector<std::string> rest = program.remaining(true);
    const bool has_option =
        chosen_command(program) != nullptr && std::ranges::any_of(rest, is_option);
    return has_option && hint_dash(words).empty() ? unexpected_argument(program)
                                                  : missing_argument(program, words);
  }
  const CLI::App* command = chosen_command(program);
  const std::string prefix = command == nullptr ? "" : command->get_name() + ": ";
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = text.substr(0, text.find_first_of(": "));
    if (!text.ends_with("flag override")) return prefix + name + " needs a value";
    return prefix + (name.size() == 1 ? "-" : "--") + name + " takes no value";
  }
  return prefix + text.substr(0, text.find('\n'));
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return {};
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A word whose length differs by more cannot be near; names from a file may be very long.
    if (candidate.size() > word.size() + 24 || candidate.size() + least < word.size()) continue;
    const bool is_start = word.size() > 2 && candidate.starts_with(word);
    const std::size_t distance = is_start ? 1 : edit_distance(word, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? std::string() : *nearest;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? "" : "; did you mean \"" + escape(nearest) + "\"?";
}

}  // namespace ingot::cli
