// SPDX-License-Identifier: MIT
// What commands declare, for options that come as pairs of a name and a value.
#include <algorithm>
#include <charconv>
#include <ingot/text.hpp>

#include "cli/command.hpp"
#include "text/words.hpp"

namespace CLI {

void App::add(const std::string& name, Take take) {
  // "-c,--ctx-size" is ctx-size; FILE and KEY-GLOB are file and key-glob.
  std::string plain = name.substr(name.rfind(',') + 1);
  plain.erase(0, plain.find_first_not_of('-'));
  for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  options_[plain] = std::move(take);
}

std::string App::set(const std::string& name, const std::string& value) const {
  const auto option = options_.find(name);
  if (option == options_.end()) return "there is no option \"" + ingot::escape(name) + "\"";
  const std::string problem = option->second(value);
  return problem.empty() ? problem : name + ": " + problem;
}

}  // namespace CLI

namespace ingot::cli {
namespace {

CLI::Option* no_option() {
  static CLI::Option option;
  return &option;
}

template <class Target>
CLI::Option* add_target(CLI::App& app, const std::string& name, Target& target) {
  app.add(name, [&target](const std::string& value) {
    if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
      target.push_back(value);
    } else {
      target = value;
    }
    return std::string();
  });
  return no_option();
}

}  // namespace

namespace detail {

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string_view,
                        const std::vector<std::string>& words, TakeWord take, std::string_view) {
  app.add(name, [words, take = std::move(take)](const std::string& value) {
    const auto found = std::find(words.begin(), words.end(), value);
    if (found == words.end()) {
      std::string problem = "\"" + escape(value) + "\" is none of";
      for (const std::string& word : words) problem += " " + word;
      return problem;
    }
    take(static_cast<std::size_t>(found - words.begin()));
    return std::string();
  });
  return no_option();
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::uint64_t lowest,
                        std::uint64_t highest, TakeNumber take, std::string_view) {
  app.add(name, [=, take = std::move(take)](const std::string& value) {
    std::uint64_t number = 0;
    const char* const last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, number);
    if (error != std::errc() || end != last || number < lowest || number > highest) {
      return "\"" + escape(value) + "\" is no whole number from " + std::to_string(lowest) +
             " to " + std::to_string(highest);
    }
    take(number);
    return std::string();
  });
  return no_option();
}

}  // namespace detail

CLI::App& add_command(CLI::App& program, const std::string&, std::string_view, std::string_view) {
  return program;
}

void on_run(CLI::App& command, std::function<void()> run) { command.run = std::move(run); }

CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& target, std::string_view) {
  app.add(name, [&target](const std::string& value) {
    target = value != "false";
    return std::string();
  });
  return no_option();
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target, std::string_view,
                      std::string_view) {
  return add_target(app, name, target);
}
CLI::Option* add_text(CLI::App& app, const std::string& name, std::optional<std::string>& target,
                      std::string_view, std::string_view) {
  return add_target(app, name, target);
}
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                       std::string_view, std::string_view) {
  return add_target(app, name, target);
}
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                      std::string_view, std::string_view) {
  app.add(name, [&target](const std::string& value) {
    for (std::string& word : split_list(value)) target.push_back(std::move(word));
    return std::string();
  });
  return no_option();
}
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& target,
                          std::string_view) {
  return add_target(app, name, target);
}
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                          std::string_view) {
  return add_target(app, name, target);
}
CLI::Option* add_file(CLI::App& app, std::string& target) {
  return add_target(app, "FILE", target);
}

void Console::add_index_option(CLI::App& command) {
  add_switch(command, "--index", open_options_.uses_index, {});
}

}  // namespace ingot::cli
