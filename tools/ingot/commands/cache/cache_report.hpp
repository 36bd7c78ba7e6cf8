// SPDX-License-Identifier: MIT
// The work of `ingot cache`; a program without remote reading refuses it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

enum class CacheAction : std::uint8_t { list, size, path, clear };

/// The folder of the cache, of a program without remote reading, too; empty if the environment
/// names none.
[[nodiscard]] std::string cache_folder();

ExitCode report_cache(Console& console, CacheAction action);

}  // namespace ingot::cli
