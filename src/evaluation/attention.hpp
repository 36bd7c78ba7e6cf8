// SPDX-License-Identifier: MIT
// Causal attention within chunks.
#pragma once

#include "evaluation/network.hpp"
#include "evaluation/panels.hpp"
#include "evaluation/work_room.hpp"

namespace ingot::evaluation {

/// Mixes the values of each head by the softmax of its scores.
///
/// @param queries, keys  rotated.
/// @param window         tokens that each token sees, itself included; 0: all before it.
/// @param mixed          head_count * value_size features.
/// @return only Errc::internal, or the exception of a thread.
[[nodiscard]] Result<void> attend(const Settings& settings, const Batch& batch, std::size_t window,
                                  const Panels& queries, const Panels& keys, const Panels& values,
                                  Panels& mixed, BufferPool& buffers, unsigned thread_count);

}  // namespace ingot::evaluation
