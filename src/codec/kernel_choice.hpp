// SPDX-License-Identifier: MIT
// The choice of kernels for the libraries that stand on this one.
#pragma once

#include "ingot/export.h"

namespace ingot::codec {

/// Position of the chosen version in every KernelTable (cpu_targets.hpp).
[[nodiscard]] INGOT_EXPORT int chosen_kernel_position() noexcept;

}  // namespace ingot::codec
