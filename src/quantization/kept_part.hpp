// SPDX-License-Identifier: MIT
// The file of a result that a later process can go on with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingot/digest.hpp"
#include "ingot/quantize_model.hpp"
#include "io/file_descriptor.hpp"
#include "io/staged_file.hpp"

namespace ingot::quantization {

/// The model's files and a sample of each of its tensors, as a digest: of another or a changed
/// model it is another one.
[[nodiscard]] Result<std::string> digest_source(const Model& model);

/// All that decides about the bytes of a result, as a digest; `source` is that of digest_source.
[[nodiscard]] Result<std::string> digest_work(const PlannedResult& result,
                                              std::span<const std::byte> header,
                                              const std::string& source);

/// What a part will be.
struct PartPlan {
  std::string path;  ///< The path of the whole file.
  bool may_replace = false;
  bool resumes = false;     ///< Goes on with what is there; else begins anew.
  std::string work;         ///< The digest of the work. What another work left is not used.
  bool allows_nan = false;  ///< What such a work left is used only by another such work.
  std::vector<std::byte> header;
  std::vector<std::uint64_t> tensor_bytes;  ///< With padding, in the order of the file.
};

/// `PATH.ingot-quantizing`, locked, and beside it `PATH.ingot-quantizing.notes`: the digest of the
/// work and whether it allows NaN, then a record of each finished tensor, its error and a digest of
/// this and the tensor's bytes. Notes are neither flushed nor trusted: a tensor is finished if its
/// bytes have the digest. They stay until `forget`, when all results of a run have their names, so
/// that a file that has its name already is known to be whole.
class KeptPart {
 public:
  /// Reads what is there. Errc::file_in_use; Errc::already_exists if PATH may not be replaced,
  /// unless it may turn out to be this very result.
  [[nodiscard]] static Result<KeptPart> open(PartPlan plan);
  KeptPart(KeptPart&&) noexcept = default;
  KeptPart& operator=(KeptPart&&) noexcept = default;

  /// The errors of the tensors that are finished, the first ones of the file.
  [[nodiscard]] std::span<const TensorError> finished() const noexcept { return finished_; }
  /// The bytes that are there, header included.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// The next bytes of the next tensor, padding included.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> end_tensor(const TensorError& error);
  [[nodiscard]] Result<void> flush() const { return is_named_ ? Result<void>() : file_.flush(); }
  [[nodiscard]] Result<void> give_name();
  [[nodiscard]] bool is_named() const noexcept { return is_named_; }
  /// Removes the notes of what has its name.
  void forget() const;
  /// Removes the part and its notes, unless it has its name.
  void remove() const noexcept;

 private:
  KeptPart(PartPlan plan, io::StagedFile file)
      : plan_(std::move(plan)), file_(std::move(file)), is_begun_here_(file_.is_new()) {}
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> load();
  [[nodiscard]] bool has_header(const Source& source) const;
  [[nodiscard]] std::uint64_t whole_bytes() const noexcept;

  PartPlan plan_;
  io::StagedFile file_;
  io::FileDescriptor notes_;
  std::vector<TensorError> finished_;
  Digest digest_{DigestAlgorithm::xxh3_128};
  std::uint64_t size_bytes_ = 0;
  bool is_begun_here_;  // there is nothing of an earlier run
  bool is_named_ = false;
};

}  // namespace ingot::quantization
