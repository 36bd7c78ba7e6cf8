// SPDX-License-Identifier: MIT
// The work of `ingot download`; a program without remote reading refuses it.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

struct DownloadRequest {
  std::string reference;
  std::string folder = ".";
  unsigned connections = 4;
  bool may_replace = false;
};

/// Fetches the files of one model. Prints a line for each, or appends an object to the array
/// `json`.
ExitCode download_model(Console& console, const DownloadRequest& request, JsonStream& json);

}  // namespace ingot::cli
