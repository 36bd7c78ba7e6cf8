// SPDX-License-Identifier: MIT
#include <dlfcn.h>

#include "system/process.hpp"

namespace ingot::system {

void* load_library(const char* name) noexcept { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* find_function(void* library, const char* name) noexcept { return ::dlsym(library, name); }
void unload_library(void* library) noexcept { ::dlclose(library); }

}  // namespace ingot::system
