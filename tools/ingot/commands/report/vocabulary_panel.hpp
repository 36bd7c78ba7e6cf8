// SPDX-License-Identifier: MIT
// The panel of a report about the vocabulary.
#pragma once

#include <ingot/model.hpp>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// Writes the member "vocabulary": the output of `ingot vocab --stats --json`, and the texts of the
/// tokens with a special role. null without a readable vocabulary.
void write_vocabulary_panel(JsonStream& json, const Model& model);

}  // namespace ingot::cli
