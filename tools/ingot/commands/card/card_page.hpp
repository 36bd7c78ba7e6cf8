// SPDX-License-Identifier: MIT
// A model card in the forms in which `ingot card` writes it.
#pragma once

#include "cli/json_stream.hpp"
#include "cli/output.hpp"
#include "commands/card/card_data.hpp"

namespace ingot::cli {

/// Writes README.md of a repository: front matter, tables.
void write_card(Output& out, const CardFacts& facts);

void write_card_json(JsonStream& json, const CardFacts& facts);

}  // namespace ingot::cli
