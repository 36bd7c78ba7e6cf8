// SPDX-License-Identifier: MIT
// Helpers that the C interfaces of tokenizers and of chat templates share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "capi/core/boundary.hpp"
#include "ingot/tokenizer.h"
#include "ingot/tokenizer.hpp"

struct ingot_tokenizer {
  ingot::Tokenizer tokenizer;
};

namespace ingot::capi {

/// Writes as much of `source` as there is room for, and how much there is.
template <class Source, class Element>
void copy_fitting(const Source& source, Element* destination, std::size_t capacity,
                  std::size_t* size) {
  const std::size_t count = std::min<std::size_t>(capacity, source.size());
  std::copy_n(source.begin(), count, destination);
  *size = source.size();
}

[[nodiscard]] inline Result<void> require_room(const void* destination, std::size_t capacity,
                                               const std::size_t* size, std::string_view name) {
  INGOT_TRY_VOID(require(destination != nullptr || capacity == 0, name));
  return require(size != nullptr, "the pointer for the size");
}

}  // namespace ingot::capi
