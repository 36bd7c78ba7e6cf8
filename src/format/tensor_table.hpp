// SPDX-License-Identifier: MIT
// The table of the tensors in a header, and the layout of their data.
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

/// The value of `general.alignment` among the parsed keys, or the default.
/// Errc::alignment_wrong_type, alignment_invalid, alignment_too_small.
[[nodiscard]] Result<std::uint64_t> alignment_of(const Structure& structure, bool is_lenient);

/// Checks that the data of all tensors lies within the file and that no two tensors share bytes. A
/// tensor of unknown type gets the bytes up to the next larger offset or the end of the file.
[[nodiscard]] Result<void> check_layout(Structure& structure, std::uint64_t file_bytes);

}  // namespace ingot::format
