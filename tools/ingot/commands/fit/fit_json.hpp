// SPDX-License-Identifier: MIT
// Every term of an estimate as JSON, so that it can be checked.
#pragma once

#include "cli/json_stream.hpp"
#include "commands/fit/fit_result.hpp"

namespace ingot::cli {

void write_fit_json(JsonStream& json, const FitResult& result);

}  // namespace ingot::cli
