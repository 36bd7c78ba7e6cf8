// SPDX-License-Identifier: MIT
#include "format/name_index.hpp"

#include <bit>

namespace ingot::format {

void NameIndex::reserve(std::size_t count) {
  // At most half full, and one slot is always free to end a search.
  slots_.assign(std::bit_ceil(2 * count + 1), 0);
  mask_ = slots_.size() - 1;
}

}  // namespace ingot::format
