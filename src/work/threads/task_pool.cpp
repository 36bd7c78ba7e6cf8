// SPDX-License-Identifier: MIT
#include "work/threads/task_pool.hpp"

#include <exception>

namespace ingot {

TaskPool::~TaskPool() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TaskPool::run(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(job);
    if (waiting_.size() <= idle_count_) {
      changed_.notify_one();
      return;
    }
    try {
      threads_.emplace_back([this] { serve(); });
      return;
    } catch (const std::exception&) {
      waiting_.pop_back();
    }
  }
  job();
}

void TaskPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_count_;
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    --idle_count_;
    if (waiting_.empty()) return;
    const std::function<void()> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace ingot
