// SPDX-License-Identifier: MIT
// The tokens in which two vocabularies differ.
#pragma once

#include <ingot/model.hpp>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

/// The sign before a difference: -, + or ~, in red, green or yellow, and a space.
enum class DiffSign : char { removed = '-', added = '+', changed = '~' };
[[nodiscard]] std::string paint_sign(const Console& console, DiffSign sign);

/// Prints the tokens that only one has, and those with another id, type or score; nothing if the
/// vocabularies are the same or one model has none.
void print_vocabulary_difference(Console& console, const Model& a, const Model& b);

/// Writes the difference as a member "vocabulary"; null if one model has no vocabulary.
void write_vocabulary_difference(JsonStream& json, const Model& a, const Model& b);

}  // namespace ingot::cli
