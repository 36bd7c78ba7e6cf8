// SPDX-License-Identifier: MIT
// Several requests at once: each is a task, in a thread that waits for its answer.
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

namespace ingot::remote {

/// Work in another thread, or none. Destroying it cancels the work and waits for its end. What the
/// work gives is the task's alone, so that it is never destroyed in that thread.
template <class Value>
class Task {
 public:
  Task() = default;
  Task(std::unique_ptr<std::optional<Value>> value, std::shared_future<void> done,
       std::stop_source stop)
      : value_(std::move(value)), done_(std::move(done)), stop_(std::move(stop)) {}
  Task(Task&&) noexcept = default;
  Task& operator=(Task&& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(done_, other.done_);
    std::swap(stop_, other.stop_);
    return *this;
  }
  ~Task() {
    cancel();
    if (is_started()) done_.wait();
  }

  [[nodiscard]] bool is_started() const noexcept { return done_.valid(); }
  [[nodiscard]] bool is_done() const {
    return done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  /// Waits for what the work gives.
  [[nodiscard]] Value& get() const {
    done_.get();
    return **value_;
  }
  /// Asks the work to end: its token says so, and a request with that token ends.
  void cancel() noexcept { stop_.request_stop(); }

 private:
  std::unique_ptr<std::optional<Value>> value_;
  std::shared_future<void> done_;
  std::stop_source stop_{std::nostopstate};
};

/// The threads of all tasks of a client. One that has nothing to do takes the next task, else there
/// is a new one: tasks may wait for one another. Thread-safe. Tasks must end before it.
class TaskPool {
 public:
  TaskPool() = default;
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Begins `work(std::stop_token)`. What it refers to must live as long as the task. Where the
  /// system has no more threads, the work is done here.
  template <class Work>
  [[nodiscard]] Task<std::invoke_result_t<Work, std::stop_token>> start(Work work) {
    using Value = std::invoke_result_t<Work, std::stop_token>;
    std::stop_source stop;
    auto value = std::make_unique<std::optional<Value>>();
    const auto done = std::make_shared<std::promise<void>>();
    run([work = std::move(work), token = stop.get_token(), value = value.get(), done] {
      try {
        value->emplace(work(token));
        done->set_value();
      } catch (...) {
        done->set_exception(std::current_exception());
      }
    });
    return Task<Value>(std::move(value), done->get_future(), std::move(stop));
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

}  // namespace ingot::remote
