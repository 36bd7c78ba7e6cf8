// SPDX-License-Identifier: MIT
// The files of a module: ranges that its host has fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ingot::web {

/// A range that was asked for and is not here.
struct MissingRange {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// Adds a file of which no byte is here. `first_read_bytes` is how much of it is worth a request.
void add_file(std::string name, std::uint64_t size_bytes, std::uint64_t first_read_bytes);

/// Makes room for a range; the host fills it before the next call.
[[nodiscard]] std::span<std::byte> add_range(std::size_t file, std::uint64_t offset,
                                             std::size_t size_bytes);

/// The bytes of a range that was added at `offset`.
[[nodiscard]] std::span<const std::byte> range_at(std::size_t file, std::uint64_t offset);

/// Forgets the range that was added at `offset`.
void drop_range(std::size_t file, std::uint64_t offset);

/// The number of a file that was added under this name.
[[nodiscard]] std::size_t number_of(const std::string& name);

/// Whether all bytes of a range are here; those that are not become missing.
[[nodiscard]] bool has_range(std::size_t file, std::uint64_t offset, std::uint64_t size_bytes);

/// The ranges that were missing since the last call, some more than once.
[[nodiscard]] std::vector<MissingRange> take_missing();

}  // namespace ingot::web
