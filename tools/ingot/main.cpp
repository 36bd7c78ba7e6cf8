// SPDX-License-Identifier: MIT
// The program `ingot`.

#include <ingot/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <ingot/text.hpp>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "build_facts.hpp"
#include "cli/command.hpp"
#include "cli/completion/completion.hpp"
#include "cli/console.hpp"
#include "cli/generated_texts.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/other_words.hpp"
#include "system/system.hpp"

namespace ingot::cli {
namespace {

/// A row of commands.def.
struct Command {
  std::string_view name;
  void (*add)(CLI::App& program, Console& console);
};

constexpr std::array commands = {
#define INGOT_COMMAND(name) Command{#name, add_##name##_command},
#include "commands.def"
#undef INGOT_COMMAND
};

using Words = std::vector<std::string>;

/// The option that completions of shells call; no command has it.
constexpr std::string_view complete_option = "--complete";

/// The name as it is typed: "chat-template".
std::string typed_name(const Command& command) {
  std::string name(command.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// `--hf NAME`, and as engines spell it `-hf NAME`, is the reference `hf:NAME`.
void join_hub_names(Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_option =
        words[i] == "--hf" || words[i] == "-hf" || words[i] == "-hfr" || words[i] == "--hf-repo";
    if (!is_option) continue;
    if (!words[i + 1].starts_with("hf:")) words[i + 1].insert(0, "hf:");
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// The arguments in the commands' spelling, without secrets. `ingot FILE` means `ingot show FILE`
/// if FILE exists or is on a server, and no command has that name.
Words words_of(std::span<const std::string> arguments, Console& console) {
  Words words(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  // A half-typed command line is completed as it is.
  if (words.empty() || words.front() == complete_option) return words;
  join_hub_names(words);
  for (std::string& word : words) word = console.remote().keep_secret(word);
  const std::string& first = words.front();
  const bool is_command =
      first == "help" || std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
        return typed_name(command) == first;
      });
  std::error_code ignored;
  if (!is_command && !first.starts_with('-') &&
      (std::filesystem::exists(first, ignored) || console.remote().is_meant(first))) {
    words.insert(words.begin(), "show");
  }
  respell_options(words);
  return words;
}

/// Declares the commands that the arguments name; all if they name none, as help and suggestions
/// list them. Declaring all takes longer than many commands run. A value or a FILE may be called
/// like a command: then one more is declared.
void declare_commands(CLI::App& program, Console& console, const Words& words) {
  const auto is_argument = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  bool is_any_named = is_argument("--version") || is_argument("-V");  // these need no command
  const bool is_half = !words.empty() && words.front() == complete_option;
  for (const Command& command : commands) {
    if (is_half || !is_argument(typed_name(command))) continue;
    command.add(program, console);
    is_any_named = true;
  }
  if (is_any_named) return;
  for (const Command& command : commands) command.add(program, console);
}

void declare(CLI::App& program, Console& console, const Words& words) {
  program.name("ingot");
  program.set_help_flag("-h,--help", "Print help; after a command, the help of that command");
  program.set_version_flag("-V,--version", "ingot " INGOT_VERSION_STRING,
                           "Print the version; with --verbose, how it was built");
  program.footer(
      "'ingot help COMMAND' explains a command and gives examples.\n"
      "Exit status: 0 done, 1 the answer is no, 2 wrong usage, 3 the input is refused,\n"
      "4 the system failed, 130 interrupted.");
  // At most one command is accepted, so that a FILE may have the name of a command.
  program.require_subcommand(0, 1);
  program.fallthrough();  // commands inherit it: global options may come after them
  console.add_options(program);
  declare_commands(program, console, words);
  add_help_command(program, console);
}

/// `--help` somewhere among the arguments.
void show_help(CLI::App& program, Console& console, const Words& words) {
  const auto chosen = program.get_subcommands();
  if (chosen.empty() && !program.remaining().empty()) {
    const CLI::ExtrasError error(program.remaining());
    console.finish(console.refuse_usage(usage_message(program, error, words)));
    return;
  }
  console.out().write(help_text(chosen.empty() ? program : *chosen.back(), console));
}

/// `--generate WHAT`, which is no option of any command.
bool is_generated(CLI::App& program, Console& console, const Words& words) {
  if (words.size() != 2 || words[0] != "--generate") return false;
  const std::string text = generate(program, words[1]);
  console.out().write(text);
  if (text.empty()) {
    console.finish(console.refuse_usage("--generate takes man, man:COMMAND, bash, zsh or fish"));
  }
  return true;
}

/// Parsing also runs the command, as the callback of its declaration.
void parse(CLI::App& program, Words words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them in reverse
  program.parse(words);
  if (program.get_subcommands().empty()) throw CLI::RequiredError("COMMAND");
}

/// Whether no command was named, but a file after options: `ingot --json FILE`.
bool is_file_alone(const CLI::App& program) {
  if (!program.get_subcommands().empty()) return false;
  const Words rest = program.remaining();
  const auto file = std::find_if(rest.begin(), rest.end(),
                                 [](const std::string& word) { return !word.starts_with('-'); });
  std::error_code ignored;
  return file != rest.end() && std::filesystem::exists(*file, ignored);
}

void run(CLI::App& program, Console& console, Words words) {
  if (is_generated(program, console, words)) return;
  if (!words.empty() && words.front() == complete_option) {
    print_completions(program, {words.begin() + 1, words.end()}, console);
    return;
  }
  if (words.empty()) {
    console.out().write(help_text(program, console));
    return;
  }
  try {
    try {
      parse(program, words);
    } catch (const CLI::ExtrasError&) {
      if (!is_file_alone(program)) throw;
      words.insert(words.begin(), "show");
      parse(program, words);
    }
  } catch (const CLI::CallForHelp&) {
    show_help(program, console, words);
  } catch (const CLI::CallForVersion& version) {
    console.out().print("{}\n", version.what());
    // It is thrown before the other options have their values.
    const auto is_verbose = [](const std::string& word) {
      return word == "-v" || word == "--verbose";
    };
    if (std::any_of(words.begin(), words.end(), is_verbose)) console.out().write(build_facts());
  } catch (const CLI::ParseError& error) {
    console.finish(console.refuse_usage(usage_message(program, error, words)));
  }
}

}  // namespace

ExitCode run_words(Console& console, const std::vector<std::string>& words) {
  CLI::App program;
  const Console::Settings usual = console.settings();
  declare(program, console, words);
  run(program, console, words);
  console.restore(usual);
  return console.take_status();
}

}  // namespace ingot::cli

int main(int argc, char** argv) {
  using ingot::cli::ExitCode;
  ingot::cli::handle_signals();
  const auto arguments = ingot::cli::system::begin(argc, argv);
  ingot::cli::Console console;
  try {
    CLI::App program("Look at, check and make GGUF model files.");
    const auto words = ingot::cli::words_of(arguments, console);
    ingot::cli::declare(program, console, words);
    ingot::cli::run(program, console, words);
  } catch (const std::bad_alloc&) {
    console.complain({}, "out of memory");
    console.finish(ExitCode::system);
  } catch (const std::exception& error) {
    console.complain({}, ingot::escape(error.what()));
    console.finish(ExitCode::system);
  }
  return console.close();
}
