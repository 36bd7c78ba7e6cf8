// SPDX-License-Identifier: MIT
#include <array>
#include <cstdlib>
#include <utility>

#include "commands/cache/cache_report.hpp"

namespace ingot::cli {

/// As `remote_cache_folder` of ingot::remote, which is not there.
std::string cache_folder() {
  constexpr std::array<std::pair<const char*, const char*>, 3> names = {
      {{"INGOT_CACHE", ""}, {"XDG_CACHE_HOME", "/ingot"}, {"HOME", "/.cache/ingot"}}};
  for (const auto& [name, folder] : names) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != 0) return std::string(value) + folder;
  }
  return {};
}

ExitCode report_cache(Console& console, CacheAction) {
  return console.fail({}, Error{Errc::remote_unavailable,
                                Error::no_offset,
                                {},
                                "this program was built without remote reading"});
}

}  // namespace ingot::cli
