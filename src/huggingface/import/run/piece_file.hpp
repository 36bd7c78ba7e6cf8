// SPDX-License-Identifier: MIT
// The bytes of one tensor of an import as a file that exists nowhere: they are made when they are
// read.
#pragma once

#include <memory>

#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/source.hpp"

namespace ingot::huggingface {

/// Made pieces that readers may want again, and memory to make others. One for all tensors of an
/// import: it holds a few pieces, whatever their number. Thread-safe.
class PieceStore;

[[nodiscard]] std::shared_ptr<PieceStore> make_piece_store();

/// @param tensor  borrowed.
[[nodiscard]] std::unique_ptr<Source> open_pieces(const PlannedTensor& tensor,
                                                  std::shared_ptr<PieceStore> store);

}  // namespace ingot::huggingface
