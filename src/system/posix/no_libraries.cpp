// SPDX-License-Identifier: MIT
// A program without shared libraries loads none.
#include "system/process.hpp"

namespace ingot::system {

void* load_library(const char*) noexcept { return nullptr; }
void* find_function(void*, const char*) noexcept { return nullptr; }
void unload_library(void*) noexcept {}

}  // namespace ingot::system
