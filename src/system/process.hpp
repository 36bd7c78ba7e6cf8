// SPDX-License-Identifier: MIT
// This process, and the libraries that it loads by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ingot/export.h"

namespace ingot::system {

[[nodiscard]] std::uint64_t process_number() noexcept;

/// The memory that programs can have without swapping, where a function tells it; Linux has files
/// for that.
[[nodiscard]] std::optional<std::uint64_t> free_memory_bytes() noexcept;

/// Fills `bytes` with numbers that nobody can foresee; false if the system has none yet.
[[nodiscard]] bool fill_randomly(void* bytes, std::size_t size) noexcept;

/// A socket that no child process has, by the numbers of the system; -1 if there is none to have.
[[nodiscard]] INGOT_EXPORT int open_socket(int family, int kind, int protocol) noexcept;

/// Loads a library, or finds the one that is loaded; nullptr if there is none.
[[nodiscard]] INGOT_EXPORT void* load_library(const char* name) noexcept;
[[nodiscard]] INGOT_EXPORT void* find_function(void* library, const char* name) noexcept;
INGOT_EXPORT void unload_library(void* library) noexcept;

}  // namespace ingot::system
