// SPDX-License-Identifier: MIT
// Opens several files of a folder as they stand at one moment.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ingot/export.h"

namespace ingot::io {

/// Calls `open`, which opens files by name in the folder `path`, or in the folder of the file
/// `path`, and returns whether they surely belong together. If not, and names in the folder changed
/// meanwhile, waits until no set of files is being named and calls it again.
INGOT_EXPORT void call_settled(const std::string& path, const std::function<bool()>& open);

/// Calls a function that returns the opened files; `is_whole` tells whether they surely belong
/// together.
template <class Open, class IsWhole>
auto open_settled(const std::string& path, const Open& open, const IsWhole& is_whole) {
  std::optional<decltype(open())> opened;
  call_settled(path, [&] { return is_whole(opened.emplace(open())); });
  return *std::move(opened);
}

}  // namespace ingot::io
