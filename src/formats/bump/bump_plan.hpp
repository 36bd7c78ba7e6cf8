// SPDX-License-Identifier: MIT
// The plan of a bump file of a model, after all checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_layout.hpp"
#include "ingot/convert.hpp"

namespace ingot::formats {

struct BumpPlan {
  std::uint32_t version = 3;
  BumpCodes codes = BumpCodes::doc;
  std::string architecture;
  formats::BumpShape shape;
  double epsilon = 0;
  double rope_theta = 0;
  bool has_attention_biases = false;
  std::vector<std::uint8_t> table;             ///< Codes, one for each entry.
  std::vector<formats::BumpSection> sections;  ///< The sections after the table.
  std::vector<OutputTensor> tensors;           ///< Their contents, in order.
  std::uint64_t payload_bytes = 0;             ///< Table and sections.
  std::vector<Error> remarks;
};

/// Checks a model against everything that the format and its engine demand, and plans the file. The
/// order of the checks is that of the original converters.
[[nodiscard]] Result<BumpPlan> plan_bump_file(const Model& model, const BumpOptions& options);

}  // namespace ingot::formats
