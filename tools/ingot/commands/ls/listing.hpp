// SPDX-License-Identifier: MIT
// The models of files and folders, one line each.
#pragma once

#include <span>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

enum class ListStyle : std::uint8_t { table, markdown };

/// Lists what the places name: files, and all models in and below folders. A model that does not
/// open is an error on stderr, and in JSON an object with the error.
void list_places(Console& console, std::span<const std::string> places, ListStyle style);

}  // namespace ingot::cli
