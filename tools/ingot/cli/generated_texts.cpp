// SPDX-License-Identifier: MIT
#include "cli/generated_texts.hpp"

#include "cli/declaration.hpp"
#include "cli/other_words.hpp"

namespace ingot::cli {

std::string generate(CLI::App& program, std::string_view what) {
  if (what == "man") return manual_page(program, nullptr);
  if (what == "bash") return bash_completion();
  if (what == "zsh") return zsh_completion();
  if (what == "fish") return fish_completion();
  if (what == "other-words") return other_words_page();
  for (const CLI::App* command : commands_of(program)) {
    if (what == "man:" + command->get_name()) return manual_page(program, command);
  }
  return {};
}

}  // namespace ingot::cli
