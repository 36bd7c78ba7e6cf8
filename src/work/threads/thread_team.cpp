// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ingot/parallel.hpp"

namespace ingot {
namespace {

/// How often a thread gives its core to others before it sleeps. With nothing else to do that takes
/// some 30 microseconds, more than the time from one call to the next in a forward pass.
constexpr int yields_before_sleep = 100;

/// The pieces of one call, with the first failure.
class Job {
 public:
  Job(std::uint64_t item_count, std::uint64_t piece_items, const PieceOfWork& work)
      : item_count_(item_count), piece_items_(piece_items), work_(work) {}

  [[nodiscard]] std::uint64_t piece_count() const noexcept {
    return item_count_ / piece_items_ + (item_count_ % piece_items_ != 0 ? 1 : 0);
  }

  [[nodiscard]] bool has_pieces() const noexcept {
    return !has_failed_.load(std::memory_order_relaxed) &&
           next_piece_.load(std::memory_order_relaxed) < piece_count();
  }

  /// Works until no piece is left or one failed.
  void run() noexcept {
    while (has_pieces()) {
      const std::uint64_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
      if (piece < piece_count()) run_piece(piece);
    }
  }

  /// The result, when all threads are done.
  [[nodiscard]] Result<void> take_result() {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
    return std::move(result_);
  }

  /// The threads of the team that work on it now. They change it under the mutex of the team.
  std::atomic<unsigned> helper_count = 0;

 private:
  void run_piece(std::uint64_t piece) noexcept {
    const std::uint64_t first = piece * piece_items_;
    try {
      Result<void> result = work_(first, std::min(piece_items_, item_count_ - first));
      if (!result) keep(piece, std::move(result), nullptr);
    } catch (...) {
      keep(piece, {}, std::current_exception());
    }
  }

  void keep(std::uint64_t piece, Result<void> result, std::exception_ptr exception) noexcept {
    const std::lock_guard lock(mutex_);
    has_failed_.store(true, std::memory_order_relaxed);
    if (piece >= failed_piece_) return;
    failed_piece_ = piece;
    result_ = std::move(result);
    exception_ = std::move(exception);
  }

  std::uint64_t item_count_;
  std::uint64_t piece_items_;
  const PieceOfWork& work_;
  std::atomic<std::uint64_t> next_piece_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  std::uint64_t failed_piece_ = std::numeric_limits<std::uint64_t>::max();
  Result<void> result_;
  std::exception_ptr exception_;
};

}  // namespace

class ThreadTeam::Threads {
 public:
  explicit Threads(unsigned count) : count_(count) {}

  ~Threads() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      ++changes_;
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  [[nodiscard]] unsigned count() const noexcept { return count_; }

  void run(Job& job) {
    const auto helpers = static_cast<unsigned>(std::min<std::uint64_t>(count_, job.piece_count()));
    if (helpers < 2) return job.run();
    offer(job, helpers - 1);
    job.run();
    withdraw(job);
  }

 private:
  /// Lets helpers work on a job, and wakes those that sleep.
  void offer(Job& job, unsigned helpers) {
    bool someone_sleeps = false;
    {
      const std::lock_guard lock(mutex_);
      begin_helpers(helpers);
      jobs_.push_back(&job);
      ++changes_;
      someone_sleeps = sleeping_ > 0;
    }
    if (!someone_sleeps) return;
    if (helpers == 1) return changed_.notify_one();
    changed_.notify_all();
  }

  void begin_helpers(unsigned wanted) {
    while (helpers_.size() < wanted) {
      try {
        helpers_.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        return;  // the system has no more threads; the existing ones do the work
      }
    }
  }

  /// Takes a job back, and waits for the pieces that helpers have begun.
  void withdraw(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(jobs_, &job);
    }
    for (int i = 0; i < yields_before_sleep; ++i) {
      if (job.helper_count.load(std::memory_order_acquire) == 0) break;
      std::this_thread::yield();
    }
    // The last helper holds the mutex while it leaves the job: without it the job may not end.
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return job.helper_count.load(std::memory_order_relaxed) == 0; });
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
      const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                    [](const Job* each) { return each->has_pieces(); });
      if (job == jobs_.end()) {
        wait_for_change(lock);
        continue;
      }
      Job& mine = **job;
      mine.helper_count.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      mine.run();
      lock.lock();
      if (mine.helper_count.fetch_sub(1, std::memory_order_release) == 1) left_.notify_all();
    }
  }

  void wait_for_change(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t seen = changes_.load(std::memory_order_relaxed);
    lock.unlock();
    for (int i = 0; i < yields_before_sleep; ++i) {
      if (changes_.load(std::memory_order_relaxed) != seen) break;
      std::this_thread::yield();
    }
    lock.lock();
    ++sleeping_;
    changed_.wait(lock, [&] { return changes_.load(std::memory_order_relaxed) != seen; });
    --sleeping_;
  }

  const unsigned count_;
  std::mutex mutex_;
  std::condition_variable changed_;  ///< There is a new job, or the team ends.
  std::condition_variable left_;     ///< No helper works on some job any more.
  std::atomic<std::uint64_t> changes_ = 0;
  std::vector<Job*> jobs_;
  unsigned sleeping_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> helpers_;
};

ThreadTeam::ThreadTeam(unsigned thread_count)
    : threads_(std::make_unique<Threads>(
          threads_for(thread_count, std::numeric_limits<std::uint64_t>::max()))) {}

ThreadTeam::~ThreadTeam() = default;

unsigned ThreadTeam::thread_count() const noexcept { return threads_->count(); }

Result<void> ThreadTeam::spread(std::uint64_t item_count, std::uint64_t piece_items,
                                const PieceOfWork& work) {
  if (piece_items == 0) return fail(Errc::invalid_argument, "piece_items", "0");
  Job job(item_count, piece_items, work);
  threads_->run(job);
  return job.take_result();
}

Result<void> spread(std::uint64_t item_count, std::uint64_t piece_items, unsigned thread_count,
                    const PieceOfWork& work) {
  return ThreadTeam(thread_count).spread(item_count, piece_items, work);
}

}  // namespace ingot
