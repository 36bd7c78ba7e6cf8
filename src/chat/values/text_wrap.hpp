// SPDX-License-Identifier: MIT
// Lines of a width, as Python's textwrap cuts them.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::chat {

struct WrapOptions {
  std::size_t width = 0;  ///< Characters, above 0.
  bool breaks_long_words = true;
  bool breaks_on_hyphens = true;
};

/// The lines that a line becomes: the first byte of each and the one behind it. Linear in the line.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> wrapped(std::string_view line,
                                                                       const WrapOptions& options);

}  // namespace ingot::chat
