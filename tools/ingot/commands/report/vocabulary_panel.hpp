// SPDX-License-Identifier: MIT
// The panel of a report about the vocabulary.
#pragma once

#include <ingot/model.hpp>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// The member "vocabulary": what `ingot vocab --stats --json` prints, and the texts of the tokens
/// that have a part of their own. null without a vocabulary that can be read.
void write_vocabulary_panel(JsonStream& json, const Model& model);

}  // namespace ingot::cli
