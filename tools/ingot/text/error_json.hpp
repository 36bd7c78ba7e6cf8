// SPDX-License-Identifier: MIT
// Errors in JSON: of a file that does not open, and messages to the user.
#pragma once

#include <ingot/error.hpp>
#include <span>
#include <string>

#include "cli/json_stream.hpp"

namespace ingot::cli {

/// Writes an object with the file and its error, in place of the facts about the file.
void write_error_json(JsonStream& json, const std::string& file, const Error& error);

/// A member with a list of warnings or notes: the name of the code, and the message.
void write_messages_json(JsonStream& json, const char* name, std::span<const Error> errors);

}  // namespace ingot::cli
