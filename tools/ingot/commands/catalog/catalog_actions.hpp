// SPDX-License-Identifier: MIT
// What `ingot catalog` does; a program that is built without SQLite says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

enum class CatalogAction : std::uint8_t { add, update, query, outliers, duplicates, export_tables };

struct CatalogArguments {
  CatalogAction action = CatalogAction::query;
  std::vector<std::string> words;  ///< Places, or the query.
  std::string path;                ///< The catalogue; empty: in the cache folder.
  std::string jsonl;
  std::string parquet;
  bool with_digests = false;
  bool may_replace = false;
};

[[nodiscard]] ExitCode run_catalog(Console& console, const CatalogArguments& arguments);

}  // namespace ingot::cli
