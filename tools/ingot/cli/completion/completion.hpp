// SPDX-License-Identifier: MIT
// Completes the word at the cursor: `ingot --complete`, which the completions of all shells call.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// `ingot --complete words WORD...` or `ingot --complete bash LINE BREAKS`: prints completions of
/// the last word, from the declarations of the commands and, where a key or a tensor belongs, from
/// the model that an earlier word names. The first line is `words`; or `files` where paths fit,
/// too, and after a tab the part of the word before them. Each other line is a word, and after a
/// tab its meaning. Never asks a server.
///
/// @param arguments the arguments after `--complete`.
void print_completions(CLI::App& program, const std::vector<std::string>& arguments,
                       Console& console);

}  // namespace ingot::cli
