// SPDX-License-Identifier: MIT
// Manual pages and completions, made from the declarations of the commands: `ingot --generate`.
// The build and packagers call it; people have no use for it, so that help does not name it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace ingot::cli {

/// ingot(1), or the page of one command, as man(7).
[[nodiscard]] std::string manual_page(CLI::App& program, const CLI::App* command);

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

/// The output of `ingot --generate WHAT`: `man`, `man:COMMAND`, `bash`, `zsh`, `fish` or
/// `other-words` (other_words.hpp); empty if `what` is none of these.
[[nodiscard]] std::string generate(CLI::App& program, std::string_view what);

}  // namespace ingot::cli
