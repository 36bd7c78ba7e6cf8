// SPDX-License-Identifier: MIT
// What a module of WebAssembly asks of its host: numbers that nobody can foresee, and nothing else.
#include <unistd.h>

#include "system/memory.hpp"
#include "system/process.hpp"

namespace ingot::system {

void prefer_large_pages(void*, std::size_t) noexcept {}

bool fill_randomly(void* bytes, std::size_t size) noexcept {
  return ::getentropy(bytes, size) == 0;
}

}  // namespace ingot::system
