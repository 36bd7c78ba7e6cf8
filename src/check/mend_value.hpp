// SPDX-License-Identifier: MIT
// A value as it must have been meant.
#pragma once

#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/owned_value.hpp"

namespace ingot::check {

struct MendedValue {
  OwnedValue value;
  bool has_set_bools = false;  ///< Bools that were neither 0 nor 1 are 1.
};

/// Copies a value, with all arrays in it, without what is wrong with its bools and, if `cuts_nuls`,
/// with the ends of its strings: a reader strips one NUL, and there may be more.
[[nodiscard]] Result<MendedValue> mend_value(const Value& value, bool cuts_nuls);

}  // namespace ingot::check
