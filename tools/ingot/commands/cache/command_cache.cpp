// SPDX-License-Identifier: MIT
// `ingot cache [list|size|path|clear]` -- the headers of remote models that are kept here.

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "commands/cache/cache_report.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot cache\n"
    "  ingot cache size\n"
    "  ingot cache clear\n"
    "\n"
    "What was read of the header of a remote model is kept, so that a second look\n"
    "takes no request where the address names a commit or a digest, and one small\n"
    "request elsewhere. --offline uses nothing else, --no-cache leaves it alone.\n"
    "The folder is $INGOT_CACHE, $XDG_CACHE_HOME/ingot or ~/.cache/ingot; it holds\n"
    "at most 1 GiB, and what was not used for longest goes first.";

const Choices<CacheAction> actions = {{"list", CacheAction::list},
                                      {"size", CacheAction::size},
                                      {"path", CacheAction::path},
                                      {"clear", CacheAction::clear}};

ExitCode run(const std::string& word, Console& console) {
  for (const auto& [name, action] : actions) {
    if (name == word) return report_cache(console, action);
  }
  return console.refuse_usage("cache: ACTION must be list, size, path or clear");
}

}  // namespace

void add_cache_command(CLI::App& program, Console& console) {
  auto action = std::make_shared<std::string>("list");
  CLI::App& command =
      add_command(program, "cache", "List or clear the kept headers of remote models", examples);
  add_argument(command, "ACTION", *action, "list, size, path or clear; default: list");
  on_run(command, [action, &console] { console.finish(run(*action, console)); });
}

}  // namespace ingot::cli
