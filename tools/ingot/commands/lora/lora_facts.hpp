// SPDX-License-Identifier: MIT
// The changes that an adapter makes, as a page or as JSON.
#pragma once

#include <ingot/lora.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

void print_adapter(Console& console, const std::string& file, const LoraAdapter& adapter);

}  // namespace ingot::cli
