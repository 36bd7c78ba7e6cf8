// SPDX-License-Identifier: MIT
// `ingot check --list-rules`
#pragma once

#include "cli/console.hpp"

namespace ingot::cli {

/// All rules, as a table or as JSON.
void list_check_rules(Console& console);

}  // namespace ingot::cli
