// SPDX-License-Identifier: MIT
// Writes safetensors: one file, or shards and an index.
#include <cstddef>
#include <map>
#include <utility>

#include "base/paths.hpp"
#include "formats/foreign/planner.hpp"
#include "formats/safetensors/gguf_metadata_text.hpp"
#include "formats/safetensors/safetensors_dtypes.hpp"
#include "formats/safetensors/safetensors_shards.hpp"
#include "ingot/output_set.hpp"

namespace ingot::formats {
namespace {

bool safetensors_holds(TensorType type) { return formats::find_dtype(type) != nullptr; }

class SafetensorsConversion final : public Conversion {
 public:
  SafetensorsConversion(const Model& model, const ConvertOptions& options)
      : model_(model), options_(options) {}

  Result<void> plan(const std::string& path) {
    INGOT_TRY(std::vector<OutputTensor> tensors,
              plan_plain_tensors(model_, options_, safetensors_holds, remarks_));
    INGOT_TRY_VOID(check_safetensors_names(tensors));
    std::map<const TensorInfo*, TensorType> types;
    for (const OutputTensor& tensor : tensors) types[tensor.source] = tensor.type;
    INGOT_TRY(const auto metadata, formats::metadata_as_text(model_, [&](const TensorInfo& tensor) {
                const auto found = types.find(&tensor);
                return found == types.end() ? tensor.type : found->second;  // left out
              }));
    std::string first_text = safetensors_metadata_text(metadata);
    auto parts = distribute_over_shards(std::move(tensors), first_text.size(),
                                        options_.max_file_bytes, remarks_);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      INGOT_TRY(
          SafetensorsShard shard,
          make_safetensors_shard(safetensors_shard_path(path, i, parts.size()), std::move(parts[i]),
                                 i == 0 ? std::move(first_text) : safetensors_metadata_text({})));
      outputs_.push_back(shard.path);
      total_bytes_ += shard.data_bytes;
      shards_.push_back(std::move(shard));
    }
    if (shards_.size() > 1) outputs_.push_back(safetensors_index_path(path));
    left_by_others_ = shards_.size() > 1 ? path : safetensors_index_path(path);
    for (const std::string& input : options_.inputs) {
      if (is_same_file(input, left_by_others_)) return fail(Errc::same_file, left_by_others_);
    }
    return {};
  }

  Result<void> run(const WriteProgress& progress) const override {
    OutputSet outputs(options_.replace);
    std::uint64_t before = 0;
    for (const SafetensorsShard& shard : shards_) {
      INGOT_TRY(OutputFile* const file,
                outputs.add(shard.path, shard.head.size() + shard.data_bytes));
      INGOT_TRY_VOID(file->write(std::as_bytes(std::span(shard.head))));
      ShardSink sink(*file);
      INGOT_TRY_VOID(
          stream_tensors(model_, shard.tensors, sink, {.thread_count = options_.thread_count},
                         [&](std::uint64_t done) { return !progress || progress(before + done); }));
      before += shard.data_bytes;
    }
    if (shards_.size() > 1)
      INGOT_TRY_VOID(outputs.add_text(outputs_.back(), safetensors_index_text(shards_)));
    INGOT_TRY_VOID(outputs.drop(left_by_others_));
    return outputs.commit();
  }

 private:
  const Model& model_;
  ConvertOptions options_;
  std::vector<SafetensorsShard> shards_;
  // The path of an older index or single file, which readers would take for a part of this output.
  std::string left_by_others_;
};

}  // namespace

Result<std::unique_ptr<Conversion>> plan_safetensors(const Model& model, const std::string& path,
                                                     const ConvertOptions& options) {
  return planned<SafetensorsConversion>(model, path, options);
}

}  // namespace ingot::formats
