// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "cli/declaration.hpp"
#include "cli/generate.hpp"
#include "text/joined.hpp"

namespace ingot::cli {
namespace {

using Words = std::vector<std::string>;

Words command_words(CLI::App& program) {
  Words words;
  for (const CLI::App* command : commands_of(program)) words.push_back(command->get_name());
  return words;
}

Words option_words(const CLI::App& app) {
  Words words;
  for (const CLI::Option* option : options_of(app)) {
    const Words names = names_of(*option);
    words.insert(words.end(), names.begin(), names.end());
  }
  return words;
}

/// Every app: the program itself, which has the options of every command, and the commands.
std::vector<CLI::App*> all_apps(CLI::App& program) {
  std::vector<CLI::App*> apps = {&program};
  for (CLI::App* command : commands_of(program)) apps.push_back(command);
  return apps;
}

bool takes_command(const CLI::Option& option) { return option.get_name(true, false) == "COMMAND"; }

bool takes_file_argument(const CLI::App& command) {
  const auto arguments = positionals(command);
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const CLI::Option* argument) { return takes_file(*argument); });
}

// --- bash ----------------------------------------------------------------------------------------

/// A pattern of `case` that matches an option anywhere: after "COMMAND ", or "* " for all commands.
std::string bash_pattern(const CLI::App& program, const CLI::App& app, const CLI::Option& option) {
  Words patterns;
  for (const std::string& name : names_of(option)) {
    patterns.push_back(&app == &program ? "*\" " + name + "\""
                                        : "\"" + app.get_name() + " " + name + "\"");
  }
  return joined(patterns, " | ");
}

std::string bash_values(CLI::App& program) {
  std::string text;
  for (CLI::App* app : all_apps(program)) {
    for (CLI::Option* option : options_of(*app)) {
      if (!takes_value(*option)) continue;
      const Words words = words_of(*option);
      std::string action = "return";  // nothing that could be guessed
      if (!words.empty()) {
        action = "COMPREPLY=($(compgen -W \"" + joined(words) + "\" -- \"$cur\")); return";
      } else if (takes_file(*option)) {
        action = "COMPREPLY=($(compgen -f -- \"$cur\")); return";
      }
      text += "    " + bash_pattern(program, *app, *option) + ") " + action + " ;;\n";
    }
  }
  return text;
}

/// Options whose value is the next word, so that it is no command.
Words value_options(CLI::App& program) {
  Words words;
  for (const CLI::Option* option : options_of(program)) {
    if (!takes_value(*option)) continue;
    const Words names = names_of(*option);
    words.insert(words.end(), names.begin(), names.end());
  }
  return words;
}

std::string bash_arguments(CLI::App& program) {
  std::string text;
  for (const CLI::App* command : commands_of(program)) {
    const auto arguments = positionals(*command);
    const bool is_help = !arguments.empty() && takes_command(*arguments.front());
    if (is_help) {
      text += fmt::format("    {}) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")) ;;\n",
                          command->get_name());
    } else if (takes_file_argument(*command)) {
      text +=
          fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n", command->get_name());
    }
  }
  return text;
}

std::string bash_options(CLI::App& program) {
  std::string text;
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format("      {}) options=\"{} $options\" ;;\n", command->get_name(),
                        joined(option_words(*command)));
  }
  return text;
}

// --- zsh -----------------------------------------------------------------------------------------

/// Text inside of single quotes, where zsh reads brackets and colons.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

std::string zsh_action(CLI::Option& option) {
  const Words words = words_of(option);
  if (!words.empty()) return "(" + joined(words) + ")";
  return takes_file(option) ? "_files" : "";
}

std::string zsh_specs(CLI::App& app, std::string_view indent) {
  std::string text;
  for (CLI::Option* option : options_of(app)) {
    const Words names = names_of(*option);
    const std::string value =
        takes_value(*option) ? ":" + zsh_text(option->get_type_name()) + ":" + zsh_action(*option)
                             : "";
    const std::string meaning = "[" + zsh_text(option->get_description()) + "]";
    for (const std::string& name : names) {
      const std::string others = names.size() > 1 ? "(" + joined(names) + ")" : "";
      text += fmt::format("{}'{}{}{}{}' \\\n", indent, others, name, meaning, value);
    }
  }
  return text;
}

std::string zsh_arguments(CLI::App& command) {
  std::string text;
  std::size_t number = 1;
  for (CLI::Option* argument : positionals(command)) {
    const std::string place =
        argument->get_items_expected_max() > 1 ? "*" : fmt::format("{}", number++);
    const std::string action = takes_command(*argument) ? "_ingot_commands" : zsh_action(*argument);
    text += fmt::format("        '{}:{}:{}' \\\n", place, zsh_text(argument->get_name(true, false)),
                        action);
  }
  return text;
}

// --- fish ----------------------------------------------------------------------------------------

std::string fish_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return "'" + result + "'";
}

std::string fish_option(CLI::Option& option, const std::string& condition) {
  std::string line = "complete -c ingot" + condition;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  if (takes_value(option)) {
    const Words words = words_of(option);
    line += takes_file(option) && words.empty() ? " -rF" : " -x";
    if (!words.empty()) line += " -a " + fish_text(joined(words));
  }
  return line + " -d " + fish_text(option.get_description()) + "\n";
}

}  // namespace

std::string bash_completion(CLI::App& program) {
  return R"(# SPDX-License-Identifier: MIT
# bash completion for ingot, generated by it
_ingot() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= i commands=")" +
         joined(command_words(program)) + R"("
  local options=")" +
         joined(option_words(program)) + R"("
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      )" +
         joined(value_options(program), " | ") +
         R"() ((++i)) ;;
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case "$command $previous" in
)" + bash_values(program) +
         R"(  esac
  if [[ $cur == -* ]]; then
    case $command in
)" + bash_options(program) +
         R"(    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  case $command in
    "") COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
)" + bash_arguments(program) +
         R"(  esac
}
complete -o filenames -F _ingot ingot
)";
}

std::string zsh_completion(CLI::App& program) {
  std::string text = R"(#compdef ingot
# SPDX-License-Identifier: MIT
# zsh completion for ingot, generated by it
_ingot_commands() {
  local -a commands=(
)";
  for (const CLI::App* command : commands_of(program)) {
    text += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
  }
  text += R"(  )
  _describe command commands
}
_ingot() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \
)" + zsh_specs(program, "    ") +
          R"(    '1:command:_ingot_commands' \
    '*::argument:->argument'
  [[ $state == argument ]] || return
  curcontext="${curcontext%:*:*}:ingot-$words[1]:"
  case $words[1] in
)";
  for (CLI::App* command : commands_of(program)) {
    text += fmt::format("    {})\n      _arguments \\\n", command->get_name());
    text += zsh_specs(*command, "        ") + zsh_specs(program, "        ") +
            zsh_arguments(*command) + "        && return\n      ;;\n";
  }
  return text + "  esac\n}\n_ingot \"$@\"\n";
}

std::string fish_completion(CLI::App& program) {
  std::string text =
      "# SPDX-License-Identifier: MIT\n"
      "# fish completion for ingot, generated by it\n"
      "complete -c ingot -f\n";
  for (CLI::Option* option : options_of(program)) text += fish_option(*option, "");
  const std::string commands = joined(command_words(program));
  for (CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    text += fmt::format("complete -c ingot -n __fish_use_subcommand -a {} -d {}\n", name,
                        fish_text(command->get_description()));
    const std::string condition = " -n " + fish_text("__fish_seen_subcommand_from " + name);
    for (CLI::Option* option : options_of(*command)) text += fish_option(*option, condition);
    const auto arguments = positionals(*command);
    if (!arguments.empty() && takes_command(*arguments.front())) {
      text += "complete -c ingot" + condition + " -a " + fish_text(commands) + "\n";
    } else if (takes_file_argument(*command)) {
      text += "complete -c ingot" + condition + " -F\n";
    }
  }
  return text;
}

}  // namespace ingot::cli
