// SPDX-License-Identifier: MIT
// Selects the tensors that a total of errors counts.
#pragma once

#include <algorithm>
#include <ingot/tensor_profile.hpp>

namespace ingot::cli {

/// Calls use(item) for the items with an error, as the signal of the others would flatter the ratio
/// of signal to error. If no item has an error, calls it for all.
template <class Items, class ErrorOf, class Use>
void for_each_in_total(const Items& items, const ErrorOf& error_of, const Use& use) {
  const auto has_error = [&](const auto& item) { return error_of(item).squared_error > 0.0; };
  const bool is_any = std::ranges::any_of(items, has_error);
  for (const auto& item : items) {
    if (!is_any || has_error(item)) use(item);
  }
}

}  // namespace ingot::cli
