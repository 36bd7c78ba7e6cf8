// SPDX-License-Identifier: MIT
// A catalogue as files that other engines read: one for each table.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"
#include "commands/catalog/catalog_file.hpp"

namespace ingot::cli {

/// A cell as text, raw bytes; empty for NULL.
[[nodiscard]] std::string cell_text(const Cell& cell);

/// Writes the row at which a statement stands as members of the object that is open.
void write_row(JsonStream& json, const Statement& statement);

enum class CatalogFormat : std::uint8_t { jsonl, parquet };

/// Writes FOLDER/TABLE.jsonl or FOLDER/TABLE.parquet for each table, all of one moment.
[[nodiscard]] ExitCode export_catalog(Console& console, const std::string& path,
                                      const std::string& folder, CatalogFormat format,
                                      bool may_replace);

}  // namespace ingot::cli
