// SPDX-License-Identifier: MIT
// Files of references on this system, and whose they are.
#pragma once

#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

/// The path on this system of the file that an argument means, for what needs a file of its own:
/// that of a reference in its store. Errc::invalid_argument if the file is on a server.
[[nodiscard]] Result<std::string> find_here(Console& console, const std::string& argument);

/// Whether a file, behind all links, lies in the store of a program that names files by their
/// content, as the hub's cache and Ollama do: whoever changed it there would make the name a lie.
[[nodiscard]] bool is_stored_by_content(const std::string& path);

}  // namespace ingot::cli
