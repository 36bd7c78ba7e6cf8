// SPDX-License-Identifier: MIT
// The chat templates of a model in the data of `ingot report`.
#pragma once

#include <ingot/model.hpp>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// Writes the member "chat_template": the features of each template, found by rendering
/// conversations, and the findings of `ingot check`. Null for a model without a template. Takes
/// some milliseconds.
void write_template_panel(JsonStream& json, const Model& model);

}  // namespace ingot::cli
