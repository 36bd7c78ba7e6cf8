// SPDX-License-Identifier: MIT
// A file whose end is missing, opened as if it were there.
#pragma once

#include <cstdint>
#include <string>

#include "ingot/model.hpp"

namespace ingot::check {

/// A model whose first bytes alone are there: the whole header, and some of the data.
struct CutFile {
  Model model;  ///< Missing bytes read as zeros, or not at all.
  std::uint64_t present_bytes = 0;
  std::uint64_t needed_bytes = 0;  ///< The end of the last tensor.
};

/// Opens one file whose tensors reach beyond its end; shards are not looked for.
[[nodiscard]] Result<CutFile> open_cut_file(const std::string& path, bool is_lenient = false);

/// Whether all data of a tensor is in the first bytes of the model's file.
[[nodiscard]] bool is_complete(const Model& model, std::uint64_t present_bytes,
                               const TensorInfo& tensor) noexcept;

}  // namespace ingot::check
