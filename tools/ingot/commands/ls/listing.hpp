// SPDX-License-Identifier: MIT
// The models of files and folders, one line each.
#pragma once

#include <span>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

enum class ListStyle : std::uint8_t { table, markdown };

/// The order of a listing: as it was found, or with the largest first but for names.
enum class ListOrder : std::uint8_t { found, name, size, parameters, context, date };

struct ListRequest {
  ListStyle style = ListStyle::table;
  ListOrder order = ListOrder::found;
  std::uint64_t limit = 0;  ///< 0: all.
};

/// Whether the headers of the models in a repository on a server are fetched, or its listing is
/// all.
enum class RepositoryHeads : std::uint8_t { left, fetched };

/// Lists the models of the places: files, folders with the folders below them, and repositories. A
/// model that does not open is an error on stderr, and in JSON an object with the error.
void list_places(Console& console, std::span<const std::string> places,
                 const ListRequest& request = {}, RepositoryHeads heads = RepositoryHeads::left);

}  // namespace ingot::cli
