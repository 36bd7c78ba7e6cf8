// SPDX-License-Identifier: MIT
// What `ingot show --json` prints of one model.
#pragma once

#include <ingot/model.hpp>
#include <string>

#include "json_stream.hpp"

namespace ingot::cli {

void write_show_json(JsonStream& json, const std::string& file, const Model& model);

}  // namespace ingot::cli
