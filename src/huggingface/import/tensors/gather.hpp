// SPDX-License-Identifier: MIT
// Reads numbers in the order of an arrangement.
#pragma once

#include <span>
#include <vector>

#include "huggingface/import/tensors/number_source.hpp"
#include "huggingface/import/tensors/piece_source.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The steps without those of one position, and with those joined that follow one another.
[[nodiscard]] std::vector<Step> simplify(std::span<const Step> steps);

/// Reads the numbers `first + sum of position * stride` in row-major order of the positions of
/// `steps`, into `destination`, as they are encoded in the source. Reads the range that they lie in
/// if they fill a good part of it, else run by run.
[[nodiscard]] Result<void> gather(const NumberSource& source, std::uint64_t first,
                                  std::span<const Step> steps, std::vector<std::byte>& scratch,
                                  std::span<std::byte> destination);

}  // namespace ingot::huggingface
