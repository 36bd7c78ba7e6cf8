// SPDX-License-Identifier: MIT
// The files of one result, written tensor by tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingot/output_set.hpp"
#include "ingot/quantize_model.hpp"
#include "quantization/kept_part.hpp"

namespace ingot::quantization {

/// The keys of one file and its tensors without their data.
[[nodiscard]] Result<ModelWriter> make_header(const Model& model, const QuantizePlan& plan,
                                              const QuantizeModelOptions& options,
                                              const QuantizedShard& shard);

/// Writes the files of one result as its tensors come. The files have no names until `commit`, and
/// are gone without it, or are parts that stay. Results at different tensors do not wait for one
/// another.
class ResultWriter {
 public:
  /// The shards are checked as `quantize_together` documents it; no file is made yet.
  [[nodiscard]] static Result<ResultWriter> create(const Model& model, const PlannedResult& result,
                                                   bool replace);
  /// Begins the file as a part that stays, or goes on with one; `source` is that of digest_source.
  [[nodiscard]] Result<void> keep_part(const std::string& source);

  /// Whether one of the files has this tensor of the plan.
  [[nodiscard]] bool has(std::size_t tensor) const noexcept { return is_held_[tensor]; }
  /// Whether it has to be made, too: no earlier process has.
  [[nodiscard]] bool needs(std::size_t tensor) const noexcept;

  /// Begins a tensor of the plan, held or not; called for all of them, in order.
  [[nodiscard]] Result<void> begin_tensor(std::size_t tensor);
  /// The next bytes of the tensor that was begun, which a file has, and their error.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes, const TensorError& error);
  [[nodiscard]] Result<void> end_tensor();
  /// Completes and flushes all files, after the last tensor.
  [[nodiscard]] Result<void> finish();

  /// Names the files, which appear together; gives the error of each of their tensors.
  [[nodiscard]] Result<std::vector<TensorError>> commit();

  /// After all results of a run have their names: nothing has to be known about parts any more.
  void forget_part() const {
    if (part_) part_->forget();
  }
  /// After a failure: whether there is a part that somebody may go on with.
  [[nodiscard]] bool has_part() const noexcept {
    return part_ && !part_->is_named() && !part_->finished().empty();
  }
  /// After a failure: removes a part without a finished tensor, and what is known about a file that
  /// has its name, unless somebody `may_go_on` with the run.
  void give_up(bool may_go_on) const;

  /// The bytes of all files so far.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  ResultWriter(const Model& model, const PlannedResult& result, bool replace)
      : model_(&model), result_(result), replace_(replace), files_(replace) {}

  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> open_file();

  const Model* model_;
  PlannedResult result_;
  bool replace_;
  std::vector<bool> is_held_;
  OutputSet files_;
  OutputFile* file_ = nullptr;    // the last one, which is being written
  std::optional<KeptPart> part_;  // instead of files
  std::size_t begun_files_ = 0;
  std::vector<TensorError> errors_;
  std::uint64_t alignment_ = 1;     // alignment of the last file
  std::uint64_t tensor_bytes_ = 0;  // size of the tensor that was begun
  std::uint64_t written_bytes_ = 0;
};

}  // namespace ingot::quantization
