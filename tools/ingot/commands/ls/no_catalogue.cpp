// SPDX-License-Identifier: MIT
#include "commands/ls/catalogue.hpp"

namespace ingot::cli {

void list_catalogue(Console& console, const ListRequest&) {
  console.finish(console.refuse("",
                                "this program was built without the stores of other programs; "
                                "'ingot ls .' lists this folder",
                                ExitCode::system));
}

}  // namespace ingot::cli
