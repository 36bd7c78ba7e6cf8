// SPDX-License-Identifier: MIT
// A metadata value without flaws.
#pragma once

#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/owned_value.hpp"

namespace ingot::check {

struct RepairedValue {
  OwnedValue value;
  bool has_set_bools = false;  ///< Bools that were neither 0 nor 1 are 1.
};

/// Copies a value, with all arrays in it: bools become 0 or 1 and, if `cuts_nuls`, strings lose the
/// NULs at their ends, where a reader strips only one.
[[nodiscard]] Result<RepairedValue> repair_value(const Value& value, bool cuts_nuls);

}  // namespace ingot::check
