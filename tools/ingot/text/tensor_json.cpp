// SPDX-License-Identifier: MIT
#include "text/tensor_json.hpp"

#include "commands/json_members.hpp"

namespace ingot::cli {

TensorPlace place_of(const Model& model, const ForeignFile* foreign, const TensorInfo& tensor) {
  if (foreign == nullptr) {
    return {model.file_offset(tensor), tensor.data_offset, model.files()[tensor.shard].index};
  }
  const std::optional<Origin> origin = model.origin(tensor);
  if (!origin) return {};
  return {origin->file_offset, origin->file_offset - foreign->data_offsets[origin->file],
          static_cast<std::uint32_t>(origin->file)};
}

void write_tensor_members(JsonStream& json, const Model& model, const ForeignFile* foreign,
                          const TensorInfo& tensor) {
  const TensorPlace place = place_of(model, foreign, tensor);
  write_members(json, tensor);
  json.member("offset", place.data_offset);
  json.member("file_offset", place.file_offset);
  json.member("shard", place.shard);
  if (model.files()[tensor.shard].is_indexed) json.member("verified", false);
}

}  // namespace ingot::cli
