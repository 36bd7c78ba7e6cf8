// SPDX-License-Identifier: MIT
// A file mapped into memory.
#pragma once

#include <memory>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Whether a source keeps its descriptor open. Sets of very many files do not, as a process may
/// have few descriptors.
enum class Keep { descriptor, nothing };

/// Maps an open regular file, read-only; takes the descriptor.
[[nodiscard]] Result<std::unique_ptr<Source>> map_descriptor(RegularFile file,
                                                             Keep keep = Keep::descriptor);

}  // namespace ingot::io
