// SPDX-License-Identifier: MIT
// Makes a reference from the decoder of a block.
#pragma once

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"

/// Defines dequantize_<enumerator>_ref by decode(block, dst), which writes a Block<name>.
#define INGOT_REFERENCE_DECODER(name, enumerator)                        \
  void dequantize_##enumerator##_ref(const std::byte* src, float* dst,   \
                                     std::size_t block_count) noexcept { \
    for (std::size_t b = 0; b < block_count; ++b) {                      \
      decode(load_block<Block##name>(src, b), dst);                      \
      dst += block_elements_of(TensorType::enumerator);                  \
    }                                                                    \
  }
