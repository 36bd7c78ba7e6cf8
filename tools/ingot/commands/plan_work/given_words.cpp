// SPDX-License-Identifier: MIT
#include "commands/plan_work/given_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ingot/text.hpp>
#include <utility>

#include "cli/declaration.hpp"

namespace ingot::cli {

tl::expected<CommandLine, std::string> CommandLine::read(const WorkCommand& command,
                                                         std::span<const std::string> words,
                                                         Console& console) {
  CLI::App program;
  console.add_options(program);
  command.declare(program, console);
  CLI::App* const declared = find_command(program, command.name);
  CommandLine line;
  line.command_ = command.name;
  bool has_options = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--" && std::exchange(has_options, false)) continue;
    if (!has_options || word.size() < 2 || word.front() != '-') {
      line.arguments_.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const CLI::Option* option = find_option(program, declared, name);
    if (option == nullptr) {
      return tl::unexpected("there is no option " + escape(name) + " of " + line.command_);
    }
    Given given{"--" + option->get_lnames().front(), {word}};
    for (int left = equals == name.npos ? value_count(option) : 0; left > 0; --left) {
      if (++i == words.size()) return tl::unexpected(name + " has no value");
      given.words.push_back(words[i]);
    }
    line.options_.push_back(std::move(given));
  }
  return line;
}

bool CommandLine::has(std::string_view option) const {
  return std::ranges::find(options_, option, &Given::name) != options_.end();
}

CommandLine::Words CommandLine::values(std::string_view option) const {
  Words values;
  for (const Given& given : options_) {
    if (given.name != option) continue;
    const std::string& last = given.words.back();
    values.push_back(given.words.size() > 1 ? last : last.substr(last.find('=') + 1));
  }
  return values;
}

std::string CommandLine::value(std::string_view option) const {
  const Words all = values(option);
  return all.empty() ? std::string() : all.back();
}

CommandLine::Words CommandLine::with(const Words& arguments,
                                     std::initializer_list<std::string_view> without,
                                     const Words& more) const {
  Words words = {command_};
  const bool is_like_option = std::ranges::any_of(
      arguments, [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (!is_like_option) words.insert(words.end(), arguments.begin(), arguments.end());
  for (const Given& given : options_) {
    if (std::ranges::find(without, given.name) != without.end()) continue;
    words.insert(words.end(), given.words.begin(), given.words.end());
  }
  words.insert(words.end(), more.begin(), more.end());
  if (!is_like_option) return words;
  words.push_back("--");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace ingot::cli
