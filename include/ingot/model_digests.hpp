// SPDX-License-Identifier: MIT
// Digests of the files and tensors of a model, with many threads (target ingot::convert).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ingot/digest.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// At most one digest by each algorithm, as hexadecimal digits; empty where there is none.
struct DigestSet {
  std::array<std::string, digest_algorithms.size()> digits;

  [[nodiscard]] const std::string& operator[](DigestAlgorithm algorithm) const noexcept {
    return digits[static_cast<std::size_t>(algorithm)];
  }
  [[nodiscard]] std::string& operator[](DigestAlgorithm algorithm) noexcept {
    return digits[static_cast<std::size_t>(algorithm)];
  }
  [[nodiscard]] bool operator==(const DigestSet&) const = default;
};

/// The digests of many things by the same algorithms, in no more memory than their bytes take.
class INGOT_EXPORT DigestTable {
 public:
  DigestTable() = default;
  /// All digests are zeros at first.
  DigestTable(std::size_t count, std::span<const DigestAlgorithm> algorithms);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// The digests of one thing; `index` must be below size().
  [[nodiscard]] DigestSet operator[](std::size_t index) const;
  /// The bytes of a digest, by an algorithm of the table.
  [[nodiscard]] std::byte* place(std::size_t index, DigestAlgorithm algorithm) noexcept;
  [[nodiscard]] bool operator==(const DigestTable&) const = default;

 private:
  std::size_t count_ = 0;
  std::size_t row_bytes_ = 0;
  std::vector<DigestAlgorithm> algorithms_;
  std::vector<std::byte> bytes_;  // row by row, the digests of a row in the order of `algorithms_`
};

/// The digests to compute.
struct DigestRequest {
  std::vector<DigestAlgorithm> algorithms = {DigestAlgorithm::sha256};
  bool has_files = true;     ///< Whether to digest each file, with all its bytes.
  bool has_tensors = true;   ///< Whether to digest each tensor's bytes as stored.
  bool has_weights = false;  ///< Whether to digest all tensors' bytes, one after the other in file
                             ///< order.
  bool has_uuid = false;
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
};

struct ModelDigests {
  std::vector<DigestSet> files;  ///< One set for each of Model::files(), or none.
  DigestTable tensors;           ///< One set for each of Model::tensors(), or none.
  DigestSet weights;             ///< The digest of the weights without metadata and padding, as
                                 ///< llama-gguf-hash computes it.
  /// UUID of version 5 (RFC 4122) of the weights in llama.cpp's namespace
  /// ef001206-dadc-5f6d-a15f-3359e577d4e5, as llama-gguf-hash and gguf-py compute it; or empty.
  std::string uuid;
};

/// Receives the bytes done so far, of all files together; false ends the work with
/// Errc::interrupted. Called from one thread at a time.
using DigestProgress = std::function<bool(std::uint64_t done_bytes)>;

/// Computes digests in one pass over the files, or, where only tensors are asked for, with a tensor
/// for each thread. Memory is bounded whatever the size, mapped pages included: below 128 MiB up to
/// 64 threads. The same digests for any number of threads. Returns errors of reading.
///
/// A digest is one chain from the first byte to the last, so that no more threads can help than
/// there are digests in the making: two for each algorithm and file (the file, and its tensors in
/// turn), or one for each tensor and algorithm if there is no digest of the whole.
[[nodiscard]] INGOT_EXPORT Result<ModelDigests> compute_digests(
    const Model& model, const DigestRequest& request, const DigestProgress& progress = {});

}  // namespace ingot
