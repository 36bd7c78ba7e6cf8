// SPDX-License-Identifier: MIT
// The config.json beside a bump file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingot/error.hpp"
#include "ingot/store.hpp"

namespace ingot::formats {

/// Facts that a header of version 2 or 3 lacks. Fields are empty if there is no such file, or no
/// such number in it.
struct BumpConfig {
  std::string architecture = "llama";
  std::optional<std::uint64_t> kv_heads;
  std::optional<std::uint64_t> feed_forward;
  std::optional<float> rope_theta;
  std::optional<float> epsilon;
};

/// Reads config.json in the folder of `path`. A file that is not such is as if it were not there:
/// the bump file itself decides whether its numbers can be true.
[[nodiscard]] Result<BumpConfig> read_bump_config(const Store& store, const std::string& name);

/// Parses the config from its text.
[[nodiscard]] BumpConfig parse_bump_config(const std::string& text);

}  // namespace ingot::formats
