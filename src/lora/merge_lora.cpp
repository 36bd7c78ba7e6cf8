// SPDX-License-Identifier: MIT
// merge_lora: a plan, carried out.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/messages.hpp"
#include "base/paths.hpp"
#include "ingot/lora.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/parallel.hpp"
#include "lora/lora_work.hpp"
#include "work/streams/ordered_pipeline.hpp"

namespace ingot {
namespace {

/// The pieces of all changed tensors, made by many threads and handed out in order.
class LoraStream {
 public:
  LoraStream(const Model& model, const LoraMergePlan& plan, unsigned thread_count)
      : model_(model), plan_(plan) {
    for (const MergedTensor& tensor : plan.tensors) {
      pieces_.push_back(lora_pieces(tensor));
      firsts_.push_back(firsts_.back() + pieces_.back().count());
    }
    pipeline_ =
        std::make_unique<Pipeline>(firsts_.back(), threads_for(thread_count, firsts_.back()),
                                   [this](std::uint64_t item, LoraResult& result,
                                          LoraScratch& scratch) { make(item, result, scratch); });
  }

  /// Gives the bytes of a tensor to `sink`; must be called for the tensors in their order.
  Result<void> stream(std::size_t tensor, const DataSink& sink) {
    for (std::uint64_t item = firsts_[tensor]; item < firsts_[tensor + 1]; ++item) {
      LoraResult& result = pipeline_->next();
      if (result.error) return fail(*std::move(result.error));
      INGOT_TRY_VOID(sink(result.bytes));
      pipeline_->release();
    }
    return {};
  }

 private:
  using Pipeline = work::OrderedPipeline<LoraResult, LoraScratch>;

  void make(std::uint64_t item, LoraResult& result, LoraScratch& scratch) const {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), item);
    const auto tensor = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    auto made =
        make_lora_piece(model_, plan_.tensors[tensor],
                        pieces_[tensor].piece(item - firsts_[tensor]), scratch, result.bytes);
    result.error = made ? std::nullopt : std::optional(std::move(made).error());
  }

  const Model& model_;
  const LoraMergePlan& plan_;
  std::vector<RowPieces> pieces_;  // the pieces of each tensor
  // The first piece of each tensor; the last element is the number of pieces.
  std::vector<std::uint64_t> firsts_ = {0};
  // Declared last: its threads end before the members that they use.
  std::unique_ptr<Pipeline> pipeline_;
};

/// Whether a path is one of the files of a model.
bool has_file(const Model& model, const std::string& path) {
  return std::ranges::any_of(model.files(),
                             [&](const ModelFile& file) { return is_same_file(file.path, path); });
}

/// @param stream must be set before the writer writes.
Result<ModelWriter> make_writer(const Model& model, const LoraMergePlan& plan,
                                const std::unique_ptr<LoraStream>& stream) {
  ModelWriter writer = ModelWriter::with_keys_of(model);
  if (plan.file_type) writer.set(keys::general_file_type, *plan.file_type);
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const MergedTensor& tensor = plan.tensors[i];
    const TensorInfo& source = *tensor.source;
    if (tensor.terms.empty()) {
      INGOT_TRY_VOID(writer.add_tensor(source.name, model, source));
    } else {
      INGOT_TRY_VOID(writer.add_tensor(
          source.name, tensor.type, source.shape,
          [&stream, i](const DataSink& sink) { return stream->stream(i, sink); }));
    }
  }
  return writer;
}

}  // namespace

Result<void> merge_lora(const Model& model, const LoraMergePlan& plan,
                        const LoraMergeOptions& options, const std::string& path, bool replace,
                        const LoraProgress& progress) {
  if (has_file(model, path)) return fail(Errc::same_file, path);
  for (const MergedTensor& tensor : plan.tensors) {
    for (const LoraTerm& term : tensor.terms) {
      if (has_file(*term.adapter, path)) return fail(Errc::same_file, path);
    }
  }
  std::unique_ptr<LoraStream> stream;
  INGOT_TRY(const ModelWriter writer, make_writer(model, plan, stream));
  stream = std::make_unique<LoraStream>(model, plan, options.thread_count);
  return with_subject(path, writer.write(path, WriteFormat::of(model), replace, progress));
}

Result<std::uint64_t> merged_lora_bytes(const Model& model, const LoraMergePlan& plan) {
  const std::unique_ptr<LoraStream> stream;
  INGOT_TRY(const ModelWriter writer, make_writer(model, plan, stream));
  return writer.file_bytes(WriteFormat::of(model));
}

}  // namespace ingot
