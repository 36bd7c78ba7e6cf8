// SPDX-License-Identifier: MIT
// The main facts about a model, on one screen.
#pragma once

#include <ingot/model.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

/// Prints the page in at most 80 columns. What the file does not say is left out.
void print_show_page(Console& console, const std::string& file, const Model& model,
                     bool shows_all_keys);

}  // namespace ingot::cli
