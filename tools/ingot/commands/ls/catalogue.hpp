// SPDX-License-Identifier: MIT
// The models that programs keep on this system, one line each.
#pragma once

#include "cli/console.hpp"
#include "commands/ls/listing.hpp"

namespace ingot::cli {

/// Lists the models of all stores. A file that is refused is a row.
void list_catalogue(Console& console, const ListRequest& request);

}  // namespace ingot::cli
