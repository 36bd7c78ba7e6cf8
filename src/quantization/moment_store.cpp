// SPDX-License-Identifier: MIT
#include "quantization/moment_store.hpp"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quantization/quantize_work.hpp"

namespace ingot::quantization {

bool has_moments(const ImatrixEntry* entry, const TensorInfo& tensor) noexcept {
  return entry != nullptr && entry->moment_columns > 0 &&
         entry->column_count() == tensor.row_elements() &&
         entry->expert_count == matrix_count(tensor);
}

/// The moments of one matrix, whose blocks are read and made ready by several threads.
class MomentStore::Work {
 public:
  Work(const Key& key, std::uint64_t use_count) : key_(key), uses_left_(use_count) {}

  [[nodiscard]] const Key& key() const noexcept { return key_; }
  /// Counts a use; whether it was the last. Under the lock of the store.
  [[nodiscard]] bool use() noexcept { return --uses_left_ == 0; }

  /// Makes blocks until none is left, and waits for those of other threads.
  [[nodiscard]] Result<Moments> finish() {
    std::unique_lock lock(mutex_);
    if (!moments_) {
      moments_ = std::make_shared<InputMoments>(
          static_cast<std::size_t>(key_.entry->column_count()),
          static_cast<std::size_t>(key_.entry->moment_columns), key_.has_feedback);
    }
    while (next_ < moments_->block_count() && !failure_) {
      const std::size_t block = next_++;
      ++running_;
      lock.unlock();
      Result<void> made = make(block);
      lock.lock();
      --running_;
      if (!made && !failure_) failure_ = std::move(made.error());
      if (running_ == 0) is_idle_.notify_all();
    }
    is_idle_.wait(lock, [&] { return running_ == 0; });
    if (failure_) return Failure(*failure_);
    return Moments(moments_);
  }

 private:
  [[nodiscard]] Result<void> make(std::size_t block) {
    const std::size_t columns = moments_->columns_of(block);
    std::vector<float> numbers(columns * columns);
    INGOT_TRY_VOID(key_.importance->read_moments(*key_.entry, key_.matrix, block, numbers));
    if (moments_->set_block(block, numbers)) return {};
    const std::uint64_t first = block * key_.entry->moment_columns;
    return fail(Errc::imatrix_invalid, key_.entry->name,
                "the second moments of columns " + std::to_string(first) + " to " +
                    std::to_string(first + columns - 1) +
                    " are no means of products: they are not positive semidefinite");
  }

  const Key key_;
  std::uint64_t uses_left_;
  std::mutex mutex_;
  std::condition_variable is_idle_;
  std::shared_ptr<InputMoments> moments_;
  std::size_t next_ = 0;     // block that no thread has begun
  std::size_t running_ = 0;  // blocks that threads are making
  std::optional<Error> failure_;
};

Result<MomentStore::Moments> MomentStore::get(const Key& key, std::uint64_t use_count) {
  return find(key, use_count)->finish();
}

std::shared_ptr<MomentStore::Work> MomentStore::find(const Key& key, std::uint64_t use_count) {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find_if(works_, [&](const auto& work) { return work->key() == key; });
  if (found == works_.end()) {
    works_.push_back(std::make_shared<Work>(key, use_count));
    found = std::prev(works_.end());
  }
  std::shared_ptr<Work> work = *found;
  if (work->use()) works_.erase(found);
  return work;
}

}  // namespace ingot::quantization
