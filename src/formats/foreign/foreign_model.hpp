// SPDX-License-Identifier: MIT
// Files of another format, seen as one GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/source.hpp"
#include "ingot/types.hpp"

namespace ingot::formats {

/// A tensor whose data lies in a file of another format.
struct ForeignTensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::size_t file = 0;              ///< Position among the files.
  std::uint64_t file_offset = 0;
  /// The value of each stored byte as bfloat16, 256 entries, if the tensor (of the type BF16) is
  /// stored in one byte per element; nullptr if the bytes are those of the type, little-endian.
  const std::uint16_t* byte_values = nullptr;
};

/// A model of `keys` and `tensors`. Data is read from `files` on request and not kept. Anything
/// that a lenient reader of GGUF accepts, such as names of more than 64 bytes, is no fault in other
/// formats; anything else is refused. Tensors must lie within their files:
/// Errc::tensor_outside_file.
[[nodiscard]] INGOT_EXPORT Result<Model> make_foreign_model(
    ModelWriter keys, std::span<const ForeignTensor> tensors,
    std::vector<std::unique_ptr<Source>> files, const OpenOptions& options);

}  // namespace ingot::formats
