// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_actions.hpp"

#include <filesystem>

#include "commands/cache/cache_report.hpp"
#include "commands/catalog/catalog_crawl.hpp"
#include "commands/catalog/catalog_export.hpp"
#include "commands/catalog/catalog_query.hpp"

namespace ingot::cli {

ExitCode run_catalog(Console& console, const CatalogArguments& arguments) {
  std::string path = arguments.path;
  if (path.empty()) {
    const std::string folder = cache_folder();
    if (folder.empty()) {
      return console.refuse_usage("catalog: there is no folder for it; give --db, or set HOME");
    }
    path = folder + "/catalog.db";
  }
  // SQLite takes names like ":memory:" for something else.
  path = std::filesystem::absolute(path).lexically_normal().generic_string();
  switch (arguments.action) {
    case CatalogAction::add:
      return add_to_catalog(console, path, arguments.words, arguments.with_digests);
    case CatalogAction::update:
      return update_catalog(console, path);
    case CatalogAction::query:
      return query_catalog(console, path, arguments.words.front());
    case CatalogAction::outliers:
      return query_catalog(console, path, outliers_sql);
    case CatalogAction::duplicates:
      return list_catalog_duplicates(console, path);
    case CatalogAction::export_tables:
      break;
  }
  const bool is_parquet = !arguments.parquet.empty();
  return export_catalog(console, path, is_parquet ? arguments.parquet : arguments.jsonl,
                        is_parquet ? CatalogFormat::parquet : CatalogFormat::jsonl,
                        arguments.may_replace);
}

}  // namespace ingot::cli
