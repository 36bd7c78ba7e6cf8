// SPDX-License-Identifier: MIT
// Opens several files of a folder as they stand at one moment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ingot/export.h"

namespace ingot::io {

/// Calls `open`, which opens files by their names: in the folder `path`, or in that of the file
/// `path`. It returns whether they surely belong together. If not, and files got or lost names
/// there meanwhile, waits until no set of files is being named and calls it again.
INGOT_EXPORT void call_settled(const std::string& path, const std::function<bool()>& open);

/// The same for a function that returns what it has opened; `is_whole` tells whether that surely
/// belongs together.
template <class Open, class IsWhole>
auto open_settled(const std::string& path, const Open& open, const IsWhole& is_whole) {
  std::optional<decltype(open())> opened;
  call_settled(path, [&] { return is_whole(opened.emplace(open())); });
  return *std::move(opened);
}

}  // namespace ingot::io
