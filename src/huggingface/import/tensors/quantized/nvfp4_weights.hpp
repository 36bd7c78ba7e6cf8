// SPDX-License-Identifier: MIT
// Weights of folders in NVFP4, which stay in it: codes and scales in two tensors become one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "huggingface/import/tensors/piece_source.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Finds weights in NVFP4, NAME.weight or NAME.weight_packed, and gives them their scales, which
/// leave the list: one for 16 columns of a row, and perhaps one for the whole matrix.
[[nodiscard]] Result<void> take_nvfp4_scales(std::vector<SourceTensor>& tensors);

/// The groups of 16 codes of a weight as numbers of a view, so that transforms can reorder them.
class Nvfp4Groups {
 public:
  /// The view of a weight, with a group in the place of 16 columns.
  [[nodiscard]] Result<TensorView> view_of(const SourceTensor& weight);

  /// The bytes of a view in NVFP4. Errc::import_refused if a transform changed its numbers.
  [[nodiscard]] Result<std::shared_ptr<const PieceSource>> pieces_of(TensorView view) const;

 private:
  std::map<const NumberSource*, std::shared_ptr<const NumberSource>> scales_;  // by their codes
};

/// Columns of a group.
inline constexpr std::uint64_t nvfp4_group = 16;

}  // namespace ingot::huggingface
