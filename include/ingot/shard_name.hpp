// SPDX-License-Identifier: MIT
// The names of the files of a split model, and the keys that describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

/// A place in a set of shards, by a file name: NAME-00001-of-00003.gguf, as llama.cpp has it.
struct ShardName {
  std::string prefix;       ///< Path up to the numbers.
  std::uint32_t index = 0;  ///< Counted from 0; the name counts from 1.
  std::uint32_t count = 1;
};

/// Files of a set, at most: split.count is stored as a uint16.
inline constexpr std::uint32_t max_shard_count = 65535;

/// Whether a key describes a set of shards, and not the model that is in them.
[[nodiscard]] INGOT_EXPORT bool is_split_key(std::string_view key) noexcept;

/// Reads a place from a path; nothing if it is not named like a shard.
[[nodiscard]] INGOT_EXPORT std::optional<ShardName> parse_shard_name(const std::string& path);

/// The path of a shard.
[[nodiscard]] INGOT_EXPORT std::string shard_file_name(const std::string& prefix,
                                                       std::uint32_t index, std::uint32_t count);

}  // namespace ingot
