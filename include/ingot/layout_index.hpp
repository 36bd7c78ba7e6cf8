// SPDX-License-Identifier: MIT
// The layout index: a key that tells where the other keys and the tensor table lie, so that a
// reader who is asked to (OpenOptions::uses_index) can jump to the tensors without walking a
// vocabulary. docs/format.md has its layout. A file that has one keeps it true: edits and writers
// make it anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/metadata.hpp"

namespace ingot {

class Model;

/// The index that one of the files of a model should have as it stands: with as many offsets as it
/// has keys. Errc::invalid_argument if the file itself was read through its index; errors of
/// reading. Linear in the bytes of the tensor table.
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::uint64_t>> make_layout_index(
    const Model& model, std::size_t file = 0);

/// Checks that the index of a file, if it has one, agrees with the file; Errc::index_ignored names
/// the first difference. The model must have been opened without its index.
[[nodiscard]] INGOT_EXPORT Result<void> verify_layout_index(const Model& model,
                                                            std::size_t file = 0);

}  // namespace ingot
