// SPDX-License-Identifier: MIT
// Makes memory run out at a chosen point.
#pragma once

namespace ingot::test {

/// How many allocations of this thread still succeed; negative: all.
extern thread_local int allocations_left;

}  // namespace ingot::test
