// SPDX-License-Identifier: MIT
// A file mapped into memory.
#pragma once

#include <memory>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Whether a source keeps the descriptor that it is made of. One of very many files does not: a
/// process may have few.
enum class Keep { descriptor, nothing };

/// Maps an open regular file, read-only; takes the descriptor.
[[nodiscard]] Result<std::unique_ptr<Source>> map_descriptor(RegularFile file,
                                                             Keep keep = Keep::descriptor);

}  // namespace ingot::io
