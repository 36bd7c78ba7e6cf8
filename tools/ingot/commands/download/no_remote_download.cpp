// SPDX-License-Identifier: MIT
#include "commands/download/remote_download.hpp"

namespace ingot::cli {

ExitCode download_model(Console& console, const DownloadRequest& request, JsonStream&) {
  return console.fail(request.reference, Error{Errc::remote_unavailable,
                                               Error::no_offset,
                                               {},
                                               "this program was built without remote reading"});
}

}  // namespace ingot::cli
