// SPDX-License-Identifier: MIT
// What `ingot vocab --stats` says of all tokens together.
#pragma once

#include <ingot/tokenizer.hpp>

#include "cli/console.hpp"

namespace ingot::cli {

/// For people, or as JSON.
void print_statistics(Console& console, const Vocabulary& vocabulary);

}  // namespace ingot::cli
