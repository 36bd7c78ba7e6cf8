// SPDX-License-Identifier: MIT
// Long work on a thread of its own, while this one watches for signals.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

constexpr std::chrono::milliseconds watch_interval{100};

/// The progress of the work, and the request to stop it. A Report owns it, and may outlive the
/// work.
struct Progress {
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> is_stopped{false};
};

/// The state of the work that both threads share.
class Job {
 public:
  void run(const std::function<void(const Report&)>& work) noexcept {
    try {
      work([progress = progress_](std::uint64_t done) {
        // A question whether to stop comes with 0.
        if (done != 0) progress->done.store(done, std::memory_order_relaxed);
        return !progress->is_stopped.load(std::memory_order_relaxed);
      });
    } catch (...) {
      exception_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_one();
  }

  /// Waits a while; returns whether the work is over.
  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, watch_interval, [this] { return is_over_; });
  }

  void stop() noexcept { progress_->is_stopped.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t done() const noexcept {
    return progress_->done.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::exception_ptr& exception() const noexcept { return exception_; }

 private:
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::exception_ptr exception_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
};

/// Calls `progress` and the handlers of signals.
void look_up(const py::object& progress, std::uint64_t done) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (!progress.is_none()) progress(done);
}

}  // namespace

void run_job(const py::object& progress, const std::function<void(const Report&)>& work) {
  Job job;
  std::exception_ptr stopped_by;
  {
    const py::gil_scoped_release release;
    std::thread worker([&] { job.run(work); });
    while (!job.wait()) {
      const py::gil_scoped_acquire acquire;
      if (stopped_by) continue;
      try {
        look_up(progress, job.done());
      } catch (...) {
        stopped_by = std::current_exception();
        job.stop();
      }
    }
    worker.join();
  }
  if (stopped_by) std::rethrow_exception(stopped_by);
  if (job.exception()) std::rethrow_exception(job.exception());
  look_up(progress, job.done());
}

}  // namespace ingot::python
