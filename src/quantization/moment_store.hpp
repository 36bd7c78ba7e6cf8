// SPDX-License-Identifier: MIT
// Second moments of the matrices that are being worked on.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "ingot/error.hpp"
#include "ingot/error_feedback.hpp"
#include "ingot/quantize_model.hpp"

namespace ingot::quantization {

/// Whether the entry of a tensor has second moments for each of its matrices.
[[nodiscard]] bool has_moments(const ImatrixEntry* entry, const TensorInfo& tensor) noexcept;

/// Makes the moments of one matrix (expert) when they are first asked for, by all threads that ask
/// for them, and forgets them after the last use: only those of matrices in work are in memory.
class MomentStore {
 public:
  struct Key {
    const ImportanceMatrix* importance = nullptr;
    const ImatrixEntry* entry = nullptr;
    std::uint64_t matrix = 0;
    bool has_feedback = false;

    [[nodiscard]] bool operator==(const Key&) const noexcept = default;
  };

  using Moments = std::shared_ptr<const InputMoments>;

  /// Thread-safe.
  ///
  /// @param use_count  how often these moments will be asked for in all.
  /// @return  Errc::imatrix_invalid if they are no means of products; errors of reading.
  [[nodiscard]] Result<Moments> get(const Key& key, std::uint64_t use_count);

 private:
  class Work;
  [[nodiscard]] std::shared_ptr<Work> find(const Key& key, std::uint64_t use_count);

  std::mutex mutex_;
  std::list<std::shared_ptr<Work>> works_;  ///< Few: those of the chunks in work.
};

}  // namespace ingot::quantization
