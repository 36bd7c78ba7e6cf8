// SPDX-License-Identifier: MIT
// A server for one page on this machine: files that are known beforehand, and nothing else.
#pragma once

#include <ingot/error.hpp>
#include <ingot/source.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "commands/view/request.hpp"
#include "system/sockets.hpp"

namespace ingot::cli {

/// What is served under a name.
struct Resource {
  std::string_view type;  ///< Its MIME type.
  std::string content;    ///< Of what is held in memory.
  std::unique_ptr<Source> source;
};

/// By name, as it stands in an address. What is not here does not exist: no name becomes a path.
using Resources = std::map<std::string, Resource, std::less<>>;

/// Adds what is held in memory.
void add_content(Resources& resources, const std::string& name, std::string_view type,
                 std::string content);

/// Answers requests until the process is ended. Returns only if the system fails.
[[nodiscard]] Result<void> serve(system::Socket listener, const Gate& gate,
                                 const Resources& resources);

}  // namespace ingot::cli
