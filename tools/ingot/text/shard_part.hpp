// SPDX-License-Identifier: MIT
// Shards as people name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

/// One of several shards, which are made separately.
struct ShardPart {
  std::uint32_t index = 0;  ///< Counted from 0.
  std::uint32_t count = 1;
};

/// "I/N": the I-th of N, I from 1 to N. Nothing for all else.
[[nodiscard]] std::optional<ShardPart> parse_shard_part(std::string_view text);

/// The form of such a text, for messages.
inline constexpr std::string_view shard_part_form = "I/N, the I-th of N shards, I from 1 to N";

/// NAME of NAME.gguf and of NAME-00001-of-00003.gguf.
[[nodiscard]] std::string prefix_of(const std::string& out);

}  // namespace ingot::cli
