// SPDX-License-Identifier: MIT
#include "cli/command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ingot/text.hpp>

#include "cli/declaration.hpp"
#include "system/system.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// "a", "a or b", "a, b or c"
std::string list_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// "--threads" of "-j,--threads"
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

/// On systems where a backslash stands between folders, too, paths get slashes, as the library
/// knows no other.
CLI::Option* with_slashes(CLI::Option* option, std::string_view word) {
  if (system::has_backslash_paths && is_path_name(word)) {
    option->transform([](std::string path) {
      std::ranges::replace(path, '\\', '/');
      return path;
    });
  }
  return option;
}

}  // namespace

namespace detail {

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string_view value_name,
                        const std::vector<std::string>& words, TakeWord take,
                        std::string_view description) {
  const std::string explained = fmt::format(fmt::runtime(description), list_words(words));
  const auto parse = [name, words, take = std::move(take)](const std::string& word) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) {
      throw CLI::ValidationError(fmt::format("{} must be {}, not \"{}\"", long_name(name),
                                             list_words(words), escape(word)));
    }
    take(static_cast<std::size_t>(found - words.begin()));
  };
  CLI::Option* option = app.add_option_function<std::string>(name, parse, explained)
                            ->type_name(std::string(value_name))
                            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  note_words(*option, words);
  return option;
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::uint64_t lowest,
                        std::uint64_t highest, TakeNumber take, std::string_view description) {
  const auto parse = [=, take = std::move(take)](const std::string& word) {
    const auto number = parse_number<std::uint64_t>(word);
    if (!number || *number < lowest || *number > highest) {
      throw CLI::ValidationError(fmt::format("{} must be a whole number from {} to {}, not \"{}\"",
                                             long_name(name), lowest, highest, escape(word)));
    }
    take(*number);
  };
  return app.add_option_function<std::string>(name, parse, std::string(description))
      ->type_name("N")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace detail

CLI::App& add_command(CLI::App& program, const std::string& name, std::string_view description,
                      std::string_view examples) {
  CLI::App& command = *program.add_subcommand(name, std::string(description));
  command.footer(std::string(examples));
  return command;
}

void on_run(CLI::App& command, std::function<void()> run) { command.callback(std::move(run)); }

void require(CLI::Option* option) { option->required(); }

CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& target,
                          std::string_view description) {
  return with_slashes(app.add_option(name, target, std::string(description)), name);
}

CLI::Option* add_argument(CLI::App& app, const std::string& name,
                          std::optional<std::string>& target, std::string_view description) {
  return with_slashes(app.add_option(name, target, std::string(description)), name);
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                          std::string_view description) {
  return with_slashes(app.add_option(name, target, std::string(description)), name);
}

CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& target,
                        std::string_view description) {
  return app.add_flag(name, target, std::string(description))->disable_flag_override();
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      std::string_view value_name, std::string_view description) {
  return with_slashes(app.add_option(name, target, std::string(description)), value_name)
      ->type_name(std::string(value_name))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      std::string_view value_name, std::string_view description) {
  const auto take = [&target](const std::string& text) { target = text; };
  return with_slashes(app.add_option_function<std::string>(name, take, std::string(description)),
                      value_name)
      ->type_name(std::string(value_name))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                       std::string_view value_name, std::string_view description) {
  return with_slashes(app.add_option(name, target, std::string(description)), value_name)
      ->type_name(std::string(value_name))
      ->allow_extra_args(false);
}

CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                      std::string_view value_name, std::string_view description) {
  return add_texts(app, name, target, value_name, description)->delimiter(',');
}

CLI::Option* add_file(CLI::App& app, std::string& target) {
  return with_slashes(app.add_option("FILE", target,
                                     "A GGUF file, any shard of a set, or - for standard input"),
                      "FILE")
      ->required();
}

CLI::Option* add_files(CLI::App& app, std::vector<std::string>& target) {
  return with_slashes(app.add_option("FILE", target,
                                     "GGUF files; any shard names its set, - is standard input"),
                      "FILE")
      ->required();
}

}  // namespace ingot::cli
