// SPDX-License-Identifier: MIT
// The models that programs keep on this system, one line each.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "commands/ls/listing.hpp"

namespace ingot::cli {

struct CatalogueRequest {
  ListRequest list;
  std::string pattern;  ///< Of names and architectures; empty: all.
  bool has_digests = false;
  bool finds_duplicates = false;
};

/// Lists the models of all stores. A file that is refused is a row.
void list_catalogue(Console& console, const CatalogueRequest& request);

}  // namespace ingot::cli
