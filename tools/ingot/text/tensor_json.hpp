// SPDX-License-Identifier: MIT
// The facts about a tensor in the JSON of `tensors` and `report`.
#pragma once

#include <cstdint>
#include <ingot/model.hpp>
#include <ingot/statistics.hpp>
#include <optional>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

/// The position of a tensor's data in the files that the user named, in any format.
struct TensorPlace {
  std::optional<std::uint64_t> file_offset;  ///< Nothing if the tensor has no data.
  std::optional<std::uint64_t> data_offset;  ///< The offset from the beginning of its file's data.
  std::uint32_t shard = 0;                   ///< Index of its file in the set.
};
/// @param foreign  nullptr if the model is GGUF.
[[nodiscard]] TensorPlace place_of(const Model& model, const ForeignFile* foreign,
                                   const TensorInfo& tensor);

/// Members of an object: `name`, `shape` and so on to `shard`.
void write_tensor_members(JsonStream& json, const Model& model, const ForeignFile* foreign,
                          const TensorInfo& tensor);

}  // namespace ingot::cli
