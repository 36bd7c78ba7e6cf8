// SPDX-License-Identifier: MIT
#include "huggingface/import/run/folder_import.hpp"

#include <utility>

#include "base/messages.hpp"
#include "formats/foreign/foreign_model.hpp"
#include "huggingface/import/general/general_keys.hpp"
#include "huggingface/import/run/piece_file.hpp"
#include "huggingface/import/tensors/piece_stream.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/split.hpp"

namespace ingot {

Import::~Import() = default;

namespace huggingface {

FolderImport::FolderImport(KeyPlan keys, TensorPlan tensors, const ImportOptions& options)
    : plan_(std::move(keys)),
      planned_(std::move(tensors.tensors)),
      thread_count_(options.thread_count) {
  remarks_ = std::move(tensors.remarks);
  left_out_ = std::move(tensors.left_out);
  code_bits_ = tensors.code_bits;
}

FolderImport::~FolderImport() = default;

Result<std::unique_ptr<Import>> FolderImport::make(KeyPlan keys, TensorPlan tensors,
                                                   TensorType type, const ImportOptions& options,
                                                   std::string_view encoding) {
  std::unique_ptr<FolderImport> made(
      new FolderImport(std::move(keys), std::move(tensors), options));
  made->type_ = type;
  if (encoding.empty()) encoding = find_type(type)->name;
  made->file_name_ = default_file_name(made->plan_, encoding, options.next_layers_only);
  INGOT_TRY_VOID(made->add_tensors());
  return std::unique_ptr<Import>(std::move(made));
}

Result<void> FolderImport::add_tensors() {
  for (const KeyValue& entry : plan_.entries()) {
    keys_.push_back({std::string(entry.key), plan_.origin_of(entry.key)});
  }
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    const ImportedTensor& tensor = planned_[i].info;
    tensors_.push_back(tensor);
    INGOT_TRY_VOID(plan_.writer().add_tensor(
        tensor.name, tensor.type, tensor.shape,
        [this, i](const DataSink& sink) { return stream_->stream(i, sink); }));
  }
  return {};
}

Result<std::uint64_t> FolderImport::file_bytes() const { return plan_.writer().file_bytes(); }

Result<void> FolderImport::write(const std::string& path, bool replace,
                                 const ImportProgress& progress) const {
  const std::lock_guard lock(writing_);
  stream_ = std::make_unique<PieceStream>(planned_, thread_count_);
  auto written = plan_.writer().write(path, {}, replace, progress);
  stream_.reset();
  return with_subject(path, std::move(written));
}

Result<Model> FolderImport::open_model() const {
  ModelWriter keys;
  for (const KeyValue& entry : plan_.entries()) keys.borrow_value(entry.key, entry.value);
  const std::shared_ptr<PieceStore> store = make_piece_store();
  std::vector<formats::ForeignTensor> tensors;
  std::vector<std::unique_ptr<Source>> files;
  for (const PlannedTensor& tensor : planned_) {
    tensors.push_back({tensor.info.name, tensor.info.type, tensor.info.shape, files.size()});
    files.push_back(open_pieces(tensor, store));
  }
  return formats::make_foreign_model(std::move(keys), tensors, std::move(files), {});
}

Result<ModelWriter> FolderImport::make_shard(const SplitPlan& plan, std::uint32_t shard,
                                             std::size_t first) const {
  ModelWriter writer = shard_keys(plan_.writer(), plan, shard);
  const PlannedShard& planned = plan.shards[shard];
  for (std::size_t i = 0; i < planned.tensor_count; ++i) {
    const std::size_t tensor = planned.first_tensor + i;
    const ImportedTensor& info = planned_[tensor].info;
    INGOT_TRY_VOID(writer.add_tensor(info.name, info.type, info.shape,
                                     [this, place = tensor - first](const DataSink& sink) {
                                       return stream_->stream(place, sink);
                                     }));
  }
  return writer;
}

Result<void> FolderImport::write_shards(const SplitPlan& plan, const std::string& prefix,
                                        std::optional<std::uint32_t> only, bool replace,
                                        const ImportProgress& progress) const {
  if (plan.tensor_count != planned_.size() || (only && *only >= plan.shards.size())) {
    return fail(Errc::invalid_argument, "plan", "it was not made for this model");
  }
  const std::lock_guard lock(writing_);
  std::span<const PlannedTensor> tensors(planned_);
  std::size_t first = 0;
  if (only) {
    first = plan.shards[*only].first_tensor;
    tensors = tensors.subspan(first, plan.shards[*only].tensor_count);
  }
  stream_ = std::make_unique<PieceStream>(tensors, thread_count_);
  Result<void> written;
  if (only) {
    const auto count = static_cast<std::uint32_t>(plan.shards.size());
    const std::string path = shard_file_name(prefix, *only, count);
    auto writer = make_shard(plan, *only, first);
    written = writer ? with_subject(path, writer->write(path, {}, replace, progress))
                     : Result<void>(fail(std::move(writer).error()));
  } else {
    written = ingot::write_shards(
        plan, [&](std::uint32_t shard) { return make_shard(plan, shard, first); }, prefix, {},
        {.may_replace = replace, .progress = progress});
  }
  stream_.reset();
  return written;
}

}  // namespace huggingface
}  // namespace ingot
