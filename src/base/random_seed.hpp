// SPDX-License-Identifier: MIT
// A random key for this process.
#pragma once

#include "base/siphash.hpp"
#include "ingot/export.h"

namespace ingot {

/// The key is made at the first call and stays the same for the life of the process. Thread-safe,
/// never fails.
[[nodiscard]] INGOT_EXPORT SipKey process_key() noexcept;

}  // namespace ingot
