// SPDX-License-Identifier: MIT
// A random key for this process.
#pragma once

#include "base/siphash.hpp"

namespace ingot {

/// Made at the first call, the same for the life of the process. Thread-safe, never fails.
[[nodiscard]] SipKey process_key() noexcept;

}  // namespace ingot
