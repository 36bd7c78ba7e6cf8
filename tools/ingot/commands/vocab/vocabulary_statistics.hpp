// SPDX-License-Identifier: MIT
// The statistics of all tokens that `ingot vocab --stats` prints.
#pragma once

#include <ingot/tokenizer.hpp>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

/// Writes the statistics as one object.
void write_statistics(JsonStream& json, const Vocabulary& vocabulary);

/// Prints the statistics for people, or as JSON.
void print_statistics(Console& console, const Vocabulary& vocabulary);

}  // namespace ingot::cli
