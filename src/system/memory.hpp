// SPDX-License-Identifier: MIT
// Memory and its pages, and files that are mapped into it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingot/export.h"

namespace ingot::system {

[[nodiscard]] std::size_t page_bytes() noexcept;

/// Whether the system has large pages to ask for; a table takes whole ones only then.
#ifdef __linux__
inline constexpr bool has_large_pages = true;
#else
inline constexpr bool has_large_pages = false;
#endif

/// Asks for large pages under whole pages of memory. A hint.
INGOT_EXPORT void prefer_large_pages(void* begin, std::size_t bytes) noexcept;

/// Maps a file from its beginning on, to be read; nullptr, with errno, if that fails.
[[nodiscard]] const std::byte* map_file(int descriptor, std::size_t bytes) noexcept;
void unmap(const std::byte* address, std::size_t bytes) noexcept;
/// Hints about whole pages of a mapping, none of which changes their content.
void prefetch_pages(const std::byte* begin, std::size_t bytes) noexcept;
void release_pages(const std::byte* begin, std::size_t bytes) noexcept;

/// Addresses for several parts of a file, without memory; nullptr where a mapping has no parts.
[[nodiscard]] std::byte* reserve_addresses(std::size_t bytes) noexcept;
/// Maps a part of a file at reserved addresses, to be read.
[[nodiscard]] bool map_part(std::byte* to, std::size_t bytes, int descriptor,
                            std::uint64_t file_offset) noexcept;
/// Lets mapped pages be written, as copies of this process, or ends that.
[[nodiscard]] bool set_writable(std::byte* begin, std::size_t bytes, bool is_writable) noexcept;

}  // namespace ingot::system
