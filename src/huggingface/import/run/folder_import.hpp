// SPDX-License-Identifier: MIT
// A planned import: keys and tensors, and the threads that make the tensors' bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/import.hpp"

namespace ingot::huggingface {

class PieceStream;

class FolderImport final : public Import {
 public:
  /// An import to files in `type`, named by the keys.
  [[nodiscard]] static Result<std::unique_ptr<Import>> make(KeyPlan keys, TensorPlan tensors,
                                                            TensorType type,
                                                            const ImportOptions& options,
                                                            std::string_view encoding = {});
  ~FolderImport() override;

  [[nodiscard]] std::vector<KeyValue> metadata() const override { return plan_.entries(); }
  [[nodiscard]] Result<std::uint64_t> file_bytes() const override;
  [[nodiscard]] Result<void> write(const std::string& path, bool replace,
                                   const ImportProgress& progress) const override;
  [[nodiscard]] Result<Model> open_model() const override;
  [[nodiscard]] Result<void> write_shards(const SplitPlan& plan, const std::string& prefix,
                                          std::optional<std::uint32_t> only, bool replace,
                                          const ImportProgress& progress) const override;

 private:
  FolderImport(KeyPlan keys, TensorPlan tensors, const ImportOptions& options);

  /// Adds the tensors to the writer.
  [[nodiscard]] Result<void> add_tensors();
  /// The writer of a shard, whose tensors come from `stream_`, of which `first` is the first one.
  [[nodiscard]] Result<ModelWriter> make_shard(const SplitPlan& plan, std::uint32_t shard,
                                               std::size_t first) const;

  KeyPlan plan_;
  std::vector<PlannedTensor> planned_;
  unsigned thread_count_;
  /// The work of the write that is going on; one at a time.
  mutable std::unique_ptr<PieceStream> stream_;
  mutable std::mutex writing_;
};

}  // namespace ingot::huggingface
