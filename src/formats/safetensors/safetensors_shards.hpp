// SPDX-License-Identifier: MIT
// The files of a model in safetensors: what is in each, and the bytes before its data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/output_file.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::formats {

struct SafetensorsShard {
  std::string path = {};
  std::vector<OutputTensor> tensors = {};  ///< The tensors in the order of their data.
  std::string head = {};                   ///< Everything before the data.
  std::uint64_t data_bytes = 0;
};

/// Writes the data of tensors to a file, one behind the other.
class ShardSink final : public TensorSink {
 public:
  explicit ShardSink(OutputFile& file) : file_(file) {}
  Result<void> begin(const OutputTensor&) override { return {}; }
  Result<void> write(std::span<const std::byte> piece) override { return file_.write(piece); }
  Result<void> end() override { return {}; }

 private:
  OutputFile& file_;
};

/// The beginning of a header with `__metadata__`, for make_safetensors_shard.
[[nodiscard]] INGOT_EXPORT std::string safetensors_metadata_text(
    std::span<const std::pair<std::string, std::string>> entries);

/// Puts tensors into a file, in an order in which each element is aligned.
/// Errc::limit_exceeded for a header that readers refuse.
[[nodiscard]] INGOT_EXPORT Result<SafetensorsShard> make_safetensors_shard(
    std::string path, std::vector<OutputTensor> tensors, std::string metadata);

/// Fails with Errc::name_does_not_fit or Errc::tensor_duplicate.
[[nodiscard]] INGOT_EXPORT Result<void> check_safetensors_names(
    std::span<const OutputTensor> tensors);

/// Fills files up to a size, in order; 0 is no limit. Remarks name tensors that exceed it alone.
[[nodiscard]] INGOT_EXPORT std::vector<std::vector<OutputTensor>> distribute_over_shards(
    std::vector<OutputTensor> tensors, std::uint64_t metadata_bytes, std::uint64_t max_bytes,
    std::vector<Error>& remarks);

/// The path of a file of several: "model-00001-of-00002.safetensors" for "model.safetensors".
[[nodiscard]] INGOT_EXPORT std::string safetensors_shard_path(const std::string& path,
                                                              std::size_t index, std::size_t count);
[[nodiscard]] INGOT_EXPORT std::string safetensors_index_path(const std::string& path);

/// model.safetensors.index.json.
[[nodiscard]] INGOT_EXPORT std::string safetensors_index_text(
    std::span<const SafetensorsShard> shards);

}  // namespace ingot::formats
