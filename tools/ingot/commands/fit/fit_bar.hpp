// SPDX-License-Identifier: MIT
// A bar whose parts are what a device holds.
#pragma once

#include <cstdint>
#include <string>

#include "cli/console.hpp"
#include "ingot/estimate.hpp"

namespace ingot::cli {

/// The parts of a bar have a colour and a glyph each, so that they are told apart without colours.
///
/// `cells` columns stand for `scale_bytes`: first used memory, then free memory up to the capacity.
/// Memory beyond the capacity has a glyph of its own.
[[nodiscard]] std::string memory_bar(const Console& console, const MemoryUse& use,
                                     std::uint64_t scale_bytes, std::size_t cells);

/// The colour of a verdict.
[[nodiscard]] Style style_of(Verdict verdict);

/// "# weights  = cache  - work space ...", as the bars have them.
[[nodiscard]] std::string bar_legend(const Console& console, bool has_excess);

}  // namespace ingot::cli
