// SPDX-License-Identifier: MIT
// The sections of a bump file: its size decides what the header leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/bump/bump_config.hpp"
#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_layout.hpp"

namespace ingot::formats {

/// A bump file as far as it can be read without knowing its sections.
struct BumpFile {
  BumpHeader header;
  std::vector<std::uint8_t> codes;   ///< The dtype table; empty in version 2.
  std::uint64_t payload_begin = 0;   ///< Begin of the range that the checksum covers.
  std::uint64_t sections_begin = 0;  ///< The offset of the sections, after the table.
  std::uint64_t payload_end = 0;
  bool has_biases = true;  ///< Derived from the size of the table; see BumpLayout.
  bool has_output = false;
  unsigned post_norms = 0;
};

struct BumpSolution {
  BumpLayout layout;
  std::vector<BumpSection> sections;
  std::string codes_text;  ///< "doc", "engine", or "doc or engine" where they do not differ.
};

/// Finds the one layout whose sections fill the payload exactly; nothing if there is none, or more
/// than one and the configuration does not decide.
[[nodiscard]] std::optional<BumpSolution> solve_bump(const BumpFile& bump,
                                                     const BumpConfig& config);

}  // namespace ingot::formats
