// SPDX-License-Identifier: MIT
// The table of the tensors in a header.
#pragma once

#include <cstdint>

#include "format/cursor.hpp"
#include "format/parse.hpp"
#include "ingot/error.hpp"

namespace ingot::format {

/// Reads `count` tensor infos at the cursor into `structure`, whose keys are already parsed.
/// O(count).
[[nodiscard]] Result<void> parse_tensor_infos(Cursor& cursor, const ParseOptions& options,
                                              std::uint64_t count, Structure& structure);

}  // namespace ingot::format
