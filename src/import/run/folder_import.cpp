// SPDX-License-Identifier: MIT
#include "import/run/folder_import.hpp"

#include <utility>

#include "base/with_subject.hpp"
#include "import/run/piece_stream.hpp"

namespace ingot {

Import::~Import() = default;

namespace hf {

FolderImport::FolderImport(KeyPlan keys, TensorPlan tensors, const ImportOptions& options)
    : plan_(std::move(keys)),
      planned_(std::move(tensors.tensors)),
      thread_count_(options.thread_count) {
  remarks_ = std::move(tensors.remarks);
}

FolderImport::~FolderImport() = default;

Result<void> FolderImport::settle(TensorType type, std::string file_name) {
  type_ = type;
  file_name_ = std::move(file_name);
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

}  // namespace hf
}  // namespace ingot
