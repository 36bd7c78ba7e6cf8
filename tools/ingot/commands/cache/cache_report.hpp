// SPDX-License-Identifier: MIT
// The work of `ingot cache`; a program without remote reading refuses it.
#pragma once

#include <cstdint>

#include "cli/console.hpp"

namespace ingot::cli {

enum class CacheAction : std::uint8_t { list, size, path, clear };

ExitCode report_cache(Console& console, CacheAction action);

}  // namespace ingot::cli
