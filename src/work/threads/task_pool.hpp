// SPDX-License-Identifier: MIT
// Work beside the work of the caller, such as requests that are on their way at the same time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/export.h"

namespace ingot {

/// Work in another thread, or none. Destroying it cancels the work and waits for its end. What the
/// work gives is the task's alone, so that it is never destroyed in that thread.
template <class T>
class Task {
 public:
  [[nodiscard]] bool is_started() const noexcept { return state_ != nullptr; }
  [[nodiscard]] bool is_done() const {
    return state_->done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  /// Waits for what the work gives.
  [[nodiscard]] T& get() const {
    state_->done.get();
    return *state_->value;
  }
  /// Asks the work to end: its token says so.
  void cancel() noexcept { state_->stop.request_stop(); }

 private:
  friend class TaskPool;
  struct State {
    ~State() {
      stop.request_stop();
      done.wait();
    }
    std::shared_future<void> done;
    std::optional<T> value = {};
    std::stop_source stop = {};
  };
  std::unique_ptr<State> state_;
};

/// The threads of tasks. One that has nothing to do takes the next task, else there is a new one:
/// tasks may wait for one another. Thread-safe. Tasks must end before it.
class INGOT_EXPORT TaskPool {
 public:
  TaskPool() = default;
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Begins `work(std::stop_token)`. What it refers to must live as long as the task. Where the
  /// system has no more threads, the work is done here.
  template <class Work>
  [[nodiscard]] Task<std::invoke_result_t<Work, std::stop_token>> start(Work work) {
    using Given = std::invoke_result_t<Work, std::stop_token>;
    Task<Given> task;  // which does not wait for a promise that is gone
    const auto done = std::make_shared<std::promise<void>>();
    task.state_.reset(new typename Task<Given>::State{done->get_future().share()});
    run([work = std::move(work), state = task.state_.get(), done] {
      try {
        state->value.emplace(work(state->stop.get_token()));
        done->set_value();
      } catch (...) {
        done->set_exception(std::current_exception());
      }
    });
    return task;
  }

 private:
  void run(std::function<void()> job);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_count_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ingot
