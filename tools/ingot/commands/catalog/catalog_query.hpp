// SPDX-License-Identifier: MIT
// What a catalogue answers.
#pragma once

#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// The questions that have a name.
inline constexpr std::string_view duplicates_sql = R"(
SELECT path, size_bytes, of_path AS same_as, "by", same_file FROM (
  SELECT a.id, a.path, a.size_bytes, b.path AS of_path,
    iif(a.weights IS NULL OR b.weights IS NULL, 'sample', 'digest') AS "by",
    coalesce(a.device = b.device AND a.inode = b.inode, 0) AS same_file
  FROM files a JOIN files b ON b.id = (
    SELECT c.id FROM files c WHERE c.sample = a.sample AND c.path < a.path
      AND (c.shard IS NULL OR c.shard = 0)
      AND (c.weights IS NULL OR a.weights IS NULL OR c.weights = a.weights)
    ORDER BY c.path LIMIT 1)
  WHERE a.shard IS NULL OR a.shard = 0)
ORDER BY of_path, path)";

/// Of the models of one base, those whose template is not that of most of them, and those whose
/// licence is another than that of the base, or than that of most where the base is not here.
inline constexpr std::string_view outliers_sql = R"(
WITH models AS (
  SELECT path, lower(coalesce(base_model, basename)) AS base, template, lower(license) AS license
  FROM files WHERE (shard IS NULL OR shard = 0) AND tokenizer IS NOT NULL
    AND coalesce(base_model, basename) IS NOT NULL),
facts AS (
  SELECT path, base, 'template' AS what, coalesce(template, '') AS value FROM models
  UNION ALL SELECT path, base, 'license', license FROM models WHERE license IS NOT NULL),
counts AS (SELECT base, what, value, count(*) AS files FROM facts GROUP BY base, what, value),
sums AS (SELECT base, what, sum(files) AS files FROM counts GROUP BY base, what),
bases AS (
  SELECT repository AS base, min(lower(license)) AS value FROM files
  WHERE repository IS NOT NULL AND license IS NOT NULL
  GROUP BY repository HAVING count(DISTINCT lower(license)) = 1),
usual AS (
  SELECT base, what, value, counts.files, 'most' AS "of"
  FROM counts JOIN sums USING (base, what)
  WHERE sums.files > 2 AND counts.files * 2 > sums.files
    AND NOT (what = 'license' AND base IN (SELECT base FROM bases))
  UNION ALL SELECT base, 'license', value, NULL, 'base' FROM bases)
SELECT path, base, what, nullif(facts.value, '') AS value, nullif(usual.value, '') AS expected,
  "of", files
FROM facts JOIN usual USING (base, what) WHERE facts.value <> usual.value
ORDER BY base, what, path)";

/// Prints the rows of a query, as a table or as JSON.
[[nodiscard]] ExitCode query_catalog(Console& console, const std::string& path,
                                     std::string_view sql);

/// Prints models that are the same, and says of how many no digest proves it.
[[nodiscard]] ExitCode list_catalog_duplicates(Console& console, const std::string& path);

}  // namespace ingot::cli
