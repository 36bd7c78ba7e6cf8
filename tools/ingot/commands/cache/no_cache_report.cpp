// SPDX-License-Identifier: MIT
#include "commands/cache/cache_report.hpp"

namespace ingot::cli {

ExitCode report_cache(Console& console, CacheAction) {
  return console.fail({}, Error{Errc::remote_unavailable,
                                Error::no_offset,
                                {},
                                "this program was built without remote reading"});
}

}  // namespace ingot::cli
