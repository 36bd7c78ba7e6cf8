// SPDX-License-Identifier: MIT
// Sorted lists without repetitions.
#pragma once

#include <algorithm>
#include <vector>

namespace ingot {

/// Sorts a list and drops all duplicates.
template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace ingot
