// SPDX-License-Identifier: MIT
// quantize_model: a plan, carried out.
#include "ingot/quantize_model.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/with_subject.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/output_file.hpp"
#include "ingot/output_set.hpp"
#include "ingot/parallel.hpp"
#include "ingot/split.hpp"
#include "quantize/quantize_work.hpp"
#include "work/streams/ordered_pipeline.hpp"

namespace ingot {
namespace {

using convert::ChunkedTensor;
using convert::ChunkQuantizer;
using convert::QuantizedChunk;
using convert::QuantizeScratch;
using Pipeline = convert::OrderedPipeline<QuantizedChunk, QuantizeScratch>;

/// Version of the block formats; 2 since 2023, when Q4_0 and Q8_0 got binary16 scales.
constexpr std::uint32_t quantization_version = 2;

/// Keys of text are cut to this, as in llama.cpp, whose buffer has room for 128.
constexpr std::size_t longest_text_bytes = 127;

std::uint32_t to_u32(std::uint64_t number) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, ~std::uint32_t{0}));
}

void set_importance_keys(ModelWriter& writer, const QuantizeModelOptions& options) {
  const ImportanceMatrix& matrix = *options.importance;
  writer.set_string("quantize.imatrix.file", options.importance_name.substr(0, longest_text_bytes));
  if (!matrix.datasets().empty()) {
    writer.set_string("quantize.imatrix.dataset",
                      matrix.datasets()[0].substr(0, longest_text_bytes));
  }
  writer.set("quantize.imatrix.entries_count", to_u32(matrix.entries().size()));
  writer.set("quantize.imatrix.chunks_count", to_u32(matrix.chunk_count()));
}

Result<void> set_metadata(ModelWriter& writer, const QuantizePlan& plan,
                          const QuantizeModelOptions& options) {
  writer.set(keys::general_quantization_version, quantization_version);
  if (plan.file_type) writer.set(keys::general_file_type, *plan.file_type);
  if (options.importance != nullptr) set_importance_keys(writer, options);
  return options.adjust_metadata ? options.adjust_metadata(writer) : Result<void>{};
}

/// The keys of one file: those of the model, or those that a split gives to this shard.
Result<ModelWriter> make_file_keys(const Model& model, const QuantizePlan& plan,
                                   const QuantizeModelOptions& options,
                                   const QuantizedShard& shard) {
  INGOT_TRY(ModelWriter keys, convert::make_keys(model, plan, options));
  if (shard.count == 0) return keys;
  const SplitPlan split{.shards = std::vector<PlannedShard>(shard.count),
                        .tensor_count = plan.tensors.size()};
  return shard_keys(keys, split, shard.index);
}

/// The tensors of a file. One that is no shard of a set holds all: nothing else would.
Result<std::span<const PlannedTensor>> tensors_of(const QuantizePlan& plan,
                                                  const QuantizedShard& shard) {
  const std::size_t all = plan.tensors.size();
  if (shard.first_tensor > all) return fail(Errc::index_out_of_range, "shard");
  const std::size_t count = shard.tensor_count.value_or(all - shard.first_tensor);
  if (count > all - shard.first_tensor || (shard.count > 0 && shard.index >= shard.count)) {
    return fail(Errc::index_out_of_range, "shard");
  }
  if (shard.count == 0 && count < all) {
    return fail(Errc::invalid_argument, "shard",
                "it would have " + std::to_string(count) + " of " + std::to_string(all) +
                    " tensors, and is not one of a set");
  }
  return std::span(plan.tensors).subspan(shard.first_tensor, count);
}

/// The chunks of all tensors of a file, numbered through.
class Work {
 public:
  Work(std::span<const PlannedTensor> planned, const ImportanceMatrix* importance) {
    for (const PlannedTensor& tensor : planned) {
      first_chunks_.push_back(chunk_count_);
      tensors_.emplace_back(tensor, importance);
      chunk_count_ += tensors_.back().chunk_count();
    }
  }

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_; }
  [[nodiscard]] const ChunkedTensor& tensor(std::size_t i) const { return tensors_[i]; }

  /// The tensor that a chunk belongs to; those without elements have none.
  [[nodiscard]] std::size_t tensor_of(std::uint64_t chunk) const {
    const auto after = std::upper_bound(first_chunks_.begin(), first_chunks_.end(), chunk);
    return static_cast<std::size_t>(after - first_chunks_.begin()) - 1;
  }
  [[nodiscard]] convert::Chunk chunk(std::uint64_t index) const {
    const std::size_t i = tensor_of(index);
    return tensors_[i].chunk(index - first_chunks_[i]);
  }

 private:
  std::vector<ChunkedTensor> tensors_;
  std::vector<std::uint64_t> first_chunks_;
  std::uint64_t chunk_count_ = 0;
};

/// Writes the chunks of a tensor as they come out of the pipeline, and adds up their errors.
Result<void> write_tensor(Pipeline& pipeline, std::uint64_t chunk_count, TensorError& error,
                          const DataSink& sink) {
  for (std::uint64_t i = 0; i < chunk_count; ++i) {
    QuantizedChunk& chunk = pipeline.next();
    if (chunk.failure) return Failure(std::move(*chunk.failure));
    INGOT_TRY_VOID(sink(chunk.bytes));
    error.add(chunk.error);
    pipeline.release();
  }
  return {};
}

/// The header of a file, with producers that take what they write from `get_pipeline`.
Result<ModelWriter> make_writer(const Model& model, const QuantizePlan& plan,
                                const QuantizeModelOptions& options, const QuantizedShard& shard,
                                const std::function<DataProducer(std::size_t)>& make_producer) {
  INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(plan, shard));
  INGOT_TRY(ModelWriter writer, make_file_keys(model, plan, options, shard));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    INGOT_TRY_VOID(writer.add_tensor(tensors[i].source->name, tensors[i].choice.type,
                                     tensors[i].source->shape, make_producer(i)));
  }
  return writer;
}

/// A file that is complete and has no name yet.
struct PreparedShard {
  OutputFile file;
  std::vector<TensorError> errors;
};

Result<PreparedShard> prepare_shard(const Model& model, const QuantizePlan& plan,
                                    const QuantizeModelOptions& options,
                                    const QuantizedShard& shard, bool replace,
                                    const QuantizeProgress& progress) {
  INGOT_TRY(const std::span<const PlannedTensor> tensors, tensors_of(plan, shard));
  std::unique_ptr<Work> work;
  std::unique_ptr<Pipeline> pipeline;
  std::vector<TensorError> errors(tensors.size());
  INGOT_TRY(const ModelWriter writer,
            make_writer(model, plan, options, shard, [&](std::size_t i) -> DataProducer {
              return [&, i](const DataSink& sink) {
                return write_tensor(*pipeline, work->tensor(i).chunk_count(), errors[i], sink);
              };
            }));
  work = std::make_unique<Work>(tensors, options.importance);
  const ChunkQuantizer quantizer(model, options, convert::result_format(model).byte_order);
  // The threads begin at once, while the writer makes the header and reserves the space.
  pipeline = std::make_unique<Pipeline>(
      work->chunk_count(), threads_for(options.thread_count, work->chunk_count()),
      [&](std::uint64_t index, QuantizedChunk& chunk, QuantizeScratch& scratch) {
        const Result<void> result =
            quantizer.run(work->tensor(work->tensor_of(index)), work->chunk(index), chunk, scratch);
        chunk.failure.reset();
        if (!result) chunk.failure = result.error();
      });
  Result<OutputFile> file =
      writer.prepare(shard.path, convert::result_format(model), replace, progress);
  pipeline.reset();  // stops the threads, whatever they are at
  if (!file) return fail(std::move(file).error());
  return PreparedShard{*std::move(file), std::move(errors)};
}

}  // namespace

WriteFormat convert::result_format(const Model& model) noexcept {
  return {.version = 3, .byte_order = model.files()[0].byte_order};
}

Result<ModelWriter> convert::make_keys(const Model& model, const QuantizePlan& plan,
                                       const QuantizeModelOptions& options) {
  ModelWriter writer = ModelWriter::with_keys_of(model);
  INGOT_TRY_VOID(set_metadata(writer, plan, options));
  return writer;
}

Result<std::uint64_t> quantized_file_bytes(const Model& model, const QuantizePlan& plan,
                                           const QuantizeModelOptions& options,
                                           const QuantizedShard& shard) {
  INGOT_TRY(const ModelWriter writer,
            make_writer(model, plan, options, shard, [](std::size_t) { return DataProducer(); }));
  return writer.file_bytes(convert::result_format(model));
}

Result<std::vector<TensorError>> quantize_model(const Model& model, const QuantizePlan& plan,
                                                const QuantizeModelOptions& options,
                                                const QuantizedShard& shard, bool replace,
                                                const QuantizeProgress& progress) {
  INGOT_TRY(PreparedShard prepared, prepare_shard(model, plan, options, shard, replace, progress));
  INGOT_TRY_VOID(prepared.file.commit());
  return std::move(prepared.errors);
}

Result<std::vector<TensorError>> quantize_set(const Model& model, const QuantizePlan& plan,
                                              const QuantizeModelOptions& options,
                                              std::span<const QuantizedShard> shards, bool replace,
                                              const QuantizeProgress& progress) {
  if (shards.empty()) return fail(Errc::invalid_argument, "shards", "there are none");
  const SharedSearch search;
  std::vector<OutputFile> files;
  std::vector<std::string> paths;
  std::vector<TensorError> errors;
  std::uint64_t done_bytes = 0;
  for (const QuantizedShard& shard : shards) {
    std::uint64_t shard_bytes = 0;
    const auto count = [&](std::uint64_t bytes) {
      shard_bytes = bytes;
      return !progress || progress(done_bytes + bytes);
    };
    INGOT_TRY(PreparedShard prepared, prepare_shard(model, plan, options, shard, replace, count));
    // Each file that is not flushed has a buffer, and naming them has to be quick.
    INGOT_TRY_VOID(with_subject(shard.path, prepared.file.sync()));
    done_bytes += shard_bytes;
    errors.insert(errors.end(), prepared.errors.begin(), prepared.errors.end());
    files.push_back(std::move(prepared.file));
    paths.push_back(shard.path);
  }
  // A set without its first shard is not taken for a model.
  std::ranges::reverse(files);
  std::ranges::reverse(paths);
  INGOT_TRY_VOID(commit_together(files, paths, replace));
  return errors;
}

}  // namespace ingot
