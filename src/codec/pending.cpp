// SPDX-License-Identifier: MIT
// Scaffolding while quantizers are being written; see HACKING. Weak, so a real one
// wins.
#include <cstdlib>

#include "codec/codec.hpp"

namespace ingot::codec {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)            \
  __attribute__((weak)) void quantize_##enumerator##_ref(const FloatRows&) noexcept { \
    std::abort();                                                                     \
  }                                                                                   \
  __attribute__((weak)) void quantize_##enumerator(const FloatRows& rows) noexcept {  \
    quantize_##enumerator##_ref(rows);                                                \
  }
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
}  // namespace ingot::codec
