// SPDX-License-Identifier: MIT
// A file that does not open, in JSON.
#pragma once

#include <ingot/error.hpp>
#include <string>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// An object with the file and its error, in the place of what would be known of the file.
void write_error_json(JsonStream& json, const std::string& file, const Error& error);

}  // namespace ingot::cli
