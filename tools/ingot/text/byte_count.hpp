// SPDX-License-Identifier: MIT
// Sizes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ingot::cli {

/// "2000000000", "2G" (10^9, as llama-gguf-split has it), "1.5GB", "2GiB" (2^30): K, M, G or T, in
/// either case, with B or iB. Nothing for all else, and for less than one byte.
[[nodiscard]] std::optional<std::uint64_t> parse_byte_count(std::string_view text);

/// An option that takes a size of at least one byte; the last one given counts.
CLI::Option* add_byte_count(CLI::App& app, const std::string& name, std::uint64_t& target,
                            const std::string& description);

}  // namespace ingot::cli
