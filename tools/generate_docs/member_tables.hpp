// SPDX-License-Identifier: MIT
// The tables of docs/json.md that are made of the descriptions of results.
#pragma once

#include <string>

namespace ingot::docs {

/// Fills the places of the page that are marked for them.
void fill_member_tables(std::string& page);

}  // namespace ingot::docs
