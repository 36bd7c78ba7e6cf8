// SPDX-License-Identifier: MIT
// Shared by the quantizers of Q4_K and Q5_K: all but the size of a code.
#pragma once

#include "codec/blocks/k.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {

/// The tries without importances differ between the two types.
inline constexpr AffineTries q4_k_tries = {15, -1.0f, 0.1f, 20};
inline constexpr AffineTries q5_k_tries = {31, -0.5f, 0.1f, 15};
/// With importances they are the same.
[[nodiscard]] constexpr AffineTries k45_weighted_tries(int max_code) noexcept {
  return {max_code, -0.9f, 0.05f, 36};
}

}  // namespace ingot::codec
