// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_actions.hpp"

namespace ingot::cli {

ExitCode run_catalog(Console& console, const CatalogArguments&) {
  return console.refuse("",
                        "this program was built without SQLite; Debian calls what the build needs "
                        "libsqlite3-dev",
                        ExitCode::system);
}

}  // namespace ingot::cli
