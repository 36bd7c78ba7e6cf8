// SPDX-License-Identifier: MIT
// The memory of a model for several contexts and quantizations.
#pragma once

#include <cstdint>
#include <ingot/estimate.hpp>
#include <ingot/model.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct GridRow {
  std::string type;  ///< A recipe, or "as it is".
  std::uint64_t weights_bytes = 0;
  std::vector<std::uint64_t> total_bytes;  ///< The sum of all devices and the host, for each
                                           ///< context.
  std::vector<Verdict> verdicts;
};

struct FitGrid {
  std::vector<std::uint64_t> contexts;
  std::vector<GridRow> rows;
  bool is_verified = true;  ///< The model was not read through a layout index.
};

/// @param contexts  none: powers of two up to the model's own context.
/// @param types     none: the model as it is, and usual recipes; else names of recipes.
/// Without devices in `options`, one without a limit is assumed.
[[nodiscard]] Result<FitGrid> make_grid(const Model& model, const MemoryProfile& profile,
                                        const RunOptions& options,
                                        std::vector<std::uint64_t> contexts,
                                        const std::vector<std::string>& types);

/// "4k", "1M" where that is exact, else all digits.
[[nodiscard]] std::string context_text(std::uint64_t context);

/// Prints the grid as a Markdown table, which is also readable as text.
void print_grid(Console& console, const FitGrid& grid, const RunOptions& options);

/// {"contexts", "rows"}, beside the file.
void print_grid_json(Console& console, const std::string& file, const FitGrid& grid);

}  // namespace ingot::cli
