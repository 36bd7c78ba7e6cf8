// SPDX-License-Identifier: MIT
// The models of files and folders, one line each.
#pragma once

#include <span>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

enum class ListStyle : std::uint8_t { table, markdown };

/// Whether the headers of the models in a repository on a server are fetched, or its listing is
/// all.
enum class RepositoryHeads : std::uint8_t { left, fetched };

/// Lists what the places name: files, all models in and below folders, and those of repositories. A
/// model that does not open is an error on stderr, and in JSON an object with the error.
void list_places(Console& console, std::span<const std::string> places, ListStyle style,
                 RepositoryHeads heads = RepositoryHeads::left);

}  // namespace ingot::cli
