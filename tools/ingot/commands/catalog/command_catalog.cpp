// SPDX-License-Identifier: MIT
// `ingot catalog ACTION` -- a table of many models: what they are, what is wrong with them.

#include <memory>

#include "cli/command.hpp"
#include "commands/catalog/catalog_actions.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot catalog add ~/models /mnt/uploads\n"
    "  ingot catalog add hf:org/repo --db hub.db\n"
    "  ingot catalog update                       # what is new, changed or gone\n"
    "  ingot catalog query 'SELECT path FROM files WHERE verdict = \"refused\"'\n"
    "  ingot catalog query 'SELECT key, count(*) FROM keys GROUP BY key' --json\n"
    "  ingot catalog outliers                     # templates and licences\n"
    "  ingot catalog duplicates                   # the same model twice\n"
    "  ingot catalog export --parquet tables/     # for DuckDB, Spark, pandas\n"
    "\n"
    "A catalogue is a file of SQLite with the tables files, keys, tensors, findings\n"
    "and texts (docs/fleet.md has their columns). Of each model the header is read\n"
    "and checked, as 'ingot check' does; a file that is refused is a row as well. A\n"
    "file whose size, time and number are as before is not read again. Several\n"
    "processes may fill one catalogue, and one that is killed leaves it whole.\n"
    "Without --db it is catalog.db in the folder that 'ingot help cache' names.";

std::string usage_problem(const CatalogArguments& arguments) {
  const CatalogAction action = arguments.action;
  const std::size_t count = arguments.words.size();
  const bool is_export = action == CatalogAction::export_tables;
  if (action == CatalogAction::add && count == 0) return "add takes files, folders, repositories";
  if (action == CatalogAction::query && count != 1) return "query takes one text of SQL, in quotes";
  if (action != CatalogAction::add && action != CatalogAction::query && count != 0) {
    return "of the actions, only add and query take words";
  }
  if (arguments.with_digests && action != CatalogAction::add) return "--digests goes with add";
  if (is_export && arguments.jsonl.empty() == arguments.parquet.empty()) {
    return "export takes --parquet DIR or --jsonl DIR";
  }
  const bool has_others =
      !arguments.jsonl.empty() || !arguments.parquet.empty() || arguments.may_replace;
  if (!is_export && has_others) return "--parquet, --jsonl and --force go with export";
  return {};
}

}  // namespace

void add_catalog_command(CLI::App& program, Console& console) {
  auto arguments = std::make_shared<CatalogArguments>();
  CLI::App& command =
      add_command(program, "catalog", "Keep a table of many models, and ask it", examples);
  require(add_choice(command, "ACTION", "ACTION", arguments->action,
                     {{"add", CatalogAction::add},
                      {"update", CatalogAction::update},
                      {"query", CatalogAction::query},
                      {"outliers", CatalogAction::outliers},
                      {"duplicates", CatalogAction::duplicates},
                      {"export", CatalogAction::export_tables}},
                     "What to do: {}"));
  add_argument(command, "WHAT", arguments->words, "add: files, folders, repositories; query: SQL");
  add_text(command, "--db", arguments->path, "FILE", "The catalogue; default: in the cache folder");
  add_switch(command, "--digests", arguments->with_digests,
             "Read the weights, too: SHA-256 of each tensor");
  add_text(command, "--jsonl", arguments->jsonl, "DIR",
           "Write a file of JSON lines for each table");
  add_text(command, "--parquet", arguments->parquet, "DIR", "Write a Parquet file for each table");
  add_switch(command, "--force", arguments->may_replace, "Replace files of an earlier export");
  on_run(command, [arguments, &console] {
    const std::string problem = usage_problem(*arguments);
    console.finish(problem.empty() ? run_catalog(console, *arguments)
                                   : console.refuse_usage("catalog: " + problem));
  });
}

}  // namespace ingot::cli
