// SPDX-License-Identifier: MIT
// What a token costs: the bytes that are read for it, from where, and what would make it faster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "commands/fit/fit_result.hpp"

namespace ingot::cli {

/// The lines on speed of a page; none where no bandwidth is known.
///
/// @param names  of the devices, then of the host.
[[nodiscard]] std::vector<std::string> speed_lines(const FitResult& result,
                                                   std::span<const std::string> names);

}  // namespace ingot::cli
