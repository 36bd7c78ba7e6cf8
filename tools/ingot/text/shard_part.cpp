// SPDX-License-Identifier: MIT
#include "text/shard_part.hpp"

#include <ingot/shard_name.hpp>

#include "text/words.hpp"

namespace ingot::cli {
std::optional<ShardPart> parse_shard_part(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = parse_number<std::uint32_t>(text.substr(0, slash));
  const auto count = parse_number<std::uint32_t>(text.substr(slash + 1));
  if (!index || !count || *index == 0 || *index > *count || *count > max_shard_count) {
    return std::nullopt;
  }
  return ShardPart{*index - 1, *count};
}

std::string prefix_of(const std::string& out) {
  if (const auto name = parse_shard_name(out)) return name->prefix;
  constexpr std::string_view ending = ".gguf";
  return out.ends_with(ending) ? out.substr(0, out.size() - ending.size()) : out;
}

}  // namespace ingot::cli
