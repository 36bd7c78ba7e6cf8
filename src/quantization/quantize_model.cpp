// SPDX-License-Identifier: MIT
// quantize_model: a plan, carried out.
#include "ingot/quantize_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ingot/metadata_keys.hpp"
#include "ingot/output_set.hpp"
#include "ingot/parallel.hpp"
#include "quantization/quantize_work.hpp"
#include "quantization/result_writer.hpp"
#include "quantization/work_memory.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot {
namespace {

using quantization::ChunkedTensor;
using quantization::ChunkQuantizer;
using quantization::QuantizedChunk;
using quantization::QuantizeScratch;
using quantization::ResultWriter;
using quantization::TensorTarget;
using Pipeline = work::OrderedPipeline<QuantizedChunk, QuantizeScratch>;

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

/// The chunks of all tensors of some plans of one model, numbered through.
class Work {
 public:
  Work(std::span<const PlannedResult> results, std::span<const ResultWriter> writers) {
    for (std::size_t tensor = 0; tensor < results[0].plan->tensors.size(); ++tensor) {
      std::vector<TensorTarget> targets;
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (!writers[i].needs(tensor)) continue;
        targets.push_back({{i}, &results[i].plan->tensors[tensor], results[i].options});
      }
      first_chunks_.push_back(chunk_count_);
      tensors_.emplace_back(targets);
      chunk_count_ += tensors_.back().chunk_count();
    }
  }

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_; }
  [[nodiscard]] std::span<const ChunkedTensor> tensors() const noexcept { return tensors_; }

  /// The tensor that a chunk belongs to; those without elements have none.
  [[nodiscard]] std::size_t tensor_of(std::uint64_t chunk) const {
    const auto after = std::upper_bound(first_chunks_.begin(), first_chunks_.end(), chunk);
    return static_cast<std::size_t>(after - first_chunks_.begin()) - 1;
  }
  [[nodiscard]] RowPiece chunk(std::uint64_t index) const {
    const std::size_t i = tensor_of(index);
    return tensors_[i].chunk(index - first_chunks_[i]);
  }

 private:
  std::vector<ChunkedTensor> tensors_;
  std::vector<std::uint64_t> first_chunks_;
  std::uint64_t chunk_count_ = 0;
};

/// The chunks of a tensor, as they come out of the pipeline, go to the results that hold it.
Result<void> write_tensor(const ChunkedTensor& tensor, Pipeline& pipeline,
                          std::span<ResultWriter> writers, const QuantizeProgress& progress) {
  for (std::uint64_t i = 0; i < tensor.chunk_count(); ++i) {
    QuantizedChunk& chunk = pipeline.next();
    if (chunk.failure) return Failure(std::move(*chunk.failure));
    for (std::size_t k = 0; k < chunk.parts.size(); ++k) {
      for (const std::size_t result : tensor.targets()[k].results) {
        INGOT_TRY_VOID(writers[result].write(chunk.parts[k].bytes, chunk.parts[k].error));
      }
    }
    pipeline.release();
    std::uint64_t done_bytes = 0;
    for (const ResultWriter& writer : writers) done_bytes += writer.written_bytes();
    if (progress && !progress(done_bytes)) return fail(Errc::interrupted, {});
  }
  return {};
}

Result<void> write_all(const Work& work, Pipeline& pipeline, std::span<ResultWriter> writers,
                       const QuantizeProgress& progress) {
  for (std::size_t i = 0; i < work.tensors().size(); ++i) {
    const ChunkedTensor& tensor = work.tensors()[i];
    for (ResultWriter& writer : writers) INGOT_TRY_VOID(writer.begin_tensor(i));
    INGOT_TRY_VOID(write_tensor(tensor, pipeline, writers, progress));
    for (const TensorTarget& target : tensor.targets()) {
      for (const std::size_t result : target.results) {
        INGOT_TRY_VOID(writers[result].end_tensor());
      }
    }
  }
  for (ResultWriter& writer : writers) INGOT_TRY_VOID(writer.finish());
  return {};
}

/// Whether plans have the same tensors of one model, in one order.
bool are_alike(const QuantizePlan& a, const QuantizePlan& b) {
  return std::ranges::equal(a.tensors, b.tensors, {}, &PlannedTensor::source,
                            &PlannedTensor::source);
}

Result<std::vector<ResultWriter>> make_writers(const Model& model,
                                               std::span<const PlannedResult> results,
                                               bool replace) {
  if (results.empty()) return fail(Errc::invalid_argument, "results", "there are none");
  std::vector<ResultWriter> writers;
  for (const PlannedResult& result : results) {
    if (!are_alike(*results[0].plan, *result.plan)) {
      return fail(Errc::invalid_argument, "results",
                  "their plans must have the same tensors in the same order");
    }
    INGOT_TRY(ResultWriter writer, ResultWriter::create(model, result, replace));
    writers.push_back(std::move(writer));
  }
  return writers;
}

/// Begins, or finds again, the parts of the results that want them.
Result<void> keep_parts(const Model& model, std::span<const PlannedResult> results,
                        std::span<ResultWriter> writers) {
  std::string source;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].options->keeps_parts && !results[i].options->resumes) continue;
    if (source.empty()) {
      INGOT_TRY(source, quantization::digest_source(model));
    }
    INGOT_TRY_VOID(writers[i].keep_part(source));
  }
  return {};
}

/// Makes all that the writers need, and names it.
Result<std::vector<std::vector<TensorError>>> make_all(const Model& model,
                                                       std::span<const PlannedResult> results,
                                                       std::span<ResultWriter> writers,
                                                       const QuantizeProgress& progress) {
  // A limit that is too small is refused before hours of comparing parts, by what all of it needs.
  const Work whole(results, writers);
  INGOT_TRY(const quantization::Crew crew,
            quantization::make_crew(whole.tensors(), *results[0].options, whole.chunk_count(),
                                    model.files()[0].header_bytes));
  INGOT_TRY_VOID(keep_parts(model, results, writers));
  const Work work(results, writers);
  const ChunkQuantizer quantizer(model, model.files()[0].byte_order);
  // The threads begin at once, while the writers make the headers and reserve the space.
  std::optional<Pipeline> pipeline(
      std::in_place, work.chunk_count(), threads_for(crew.thread_count, work.chunk_count()),
      [&](std::uint64_t index, QuantizedChunk& chunk, QuantizeScratch& scratch) {
        const ChunkedTensor& tensor = work.tensors()[work.tensor_of(index)];
        const Result<void> result = quantizer.run(tensor, work.chunk(index), chunk, scratch);
        chunk.failure.reset();
        if (!result) chunk.failure = result.error();
      },
      std::vector<QuantizedChunk>(), crew.chunks_ahead);
  INGOT_TRY_VOID(write_all(work, *pipeline, writers, progress));
  pipeline.reset();  // its memory goes before the files are named
  std::vector<std::vector<TensorError>> errors;
  for (ResultWriter& writer : writers) {
    INGOT_TRY(std::vector<TensorError> of_result, writer.commit());
    errors.push_back(std::move(of_result));
  }
  for (const ResultWriter& writer : writers) writer.forget_part();
  return errors;
}

}  // namespace

WriteFormat quantization::result_format(const Model& model,
                                        const QuantizeModelOptions& options) noexcept {
  return {.version = 3, .byte_order = model.files()[0].byte_order, .has_index = options.has_index};
}

Result<ModelWriter> quantization::make_keys(const Model& model, const QuantizePlan& plan,
                                            const QuantizeModelOptions& options) {
  ModelWriter writer = ModelWriter::with_keys_of(model);
  INGOT_TRY_VOID(set_metadata(writer, plan, options));
  return writer;
}

Result<std::uint64_t> quantized_file_bytes(const Model& model, const QuantizePlan& plan,
                                           const QuantizeModelOptions& options,
                                           const QuantizedShard& shard) {
  INGOT_TRY(const ModelWriter header, quantization::make_header(model, plan, options, shard));
  return header.file_bytes(quantization::result_format(model, options));
}

Result<std::vector<TensorError>> quantize_model(const Model& model, const QuantizePlan& plan,
                                                const QuantizeModelOptions& options,
                                                const QuantizedShard& shard, bool replace,
                                                const QuantizeProgress& progress) {
  return quantize_set(model, plan, options, {&shard, 1}, replace, progress);
}

Result<std::vector<TensorError>> quantize_set(const Model& model, const QuantizePlan& plan,
                                              const QuantizeModelOptions& options,
                                              std::span<const QuantizedShard> shards, bool replace,
                                              const QuantizeProgress& progress) {
  const PlannedResult result{&plan, &options, shards};
  INGOT_TRY(std::vector<std::vector<TensorError>> errors,
            quantize_together(model, {&result, 1}, replace, progress));
  return std::move(errors[0]);
}

Result<std::vector<std::vector<TensorError>>> quantize_together(
    const Model& model, std::span<const PlannedResult> results, bool replace,
    const QuantizeProgress& progress) {
  const SharedSearch search;
  INGOT_TRY(std::vector<ResultWriter> writers, make_writers(model, results, replace));
  auto errors = make_all(model, results, writers, progress);
  if (errors) return errors;
  const bool may_go_on = std::ranges::any_of(writers, &ResultWriter::has_part);
  for (const ResultWriter& writer : writers) writer.give_up(may_go_on);
  if (may_go_on) {
    std::string& detail = errors.error().detail;
    detail += (detail.empty() ? "" : "; ") + std::string("resume goes on with what is finished");
  }
  return errors;
}

}  // namespace ingot
