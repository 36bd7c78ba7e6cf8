// SPDX-License-Identifier: MIT
// `ingot cache [list|size|path|clear]` -- the headers of remote models that are kept here.

#include <memory>

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

}  // namespace

void add_cache_command(CLI::App& program, Console& console) {
  auto action = std::make_shared<CacheAction>(CacheAction::list);
  CLI::App& command =
      add_command(program, "cache", "List or clear the kept headers of remote models", examples);
  add_choice(command, "ACTION", "ACTION", *action,
             {{"list", CacheAction::list},
              {"size", CacheAction::size},
              {"path", CacheAction::path},
              {"clear", CacheAction::clear}},
             "{}; default: list");
  on_run(command, [action, &console] { console.finish(report_cache(console, *action)); });
}

}  // namespace ingot::cli
