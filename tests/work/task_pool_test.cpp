// SPDX-License-Identifier: MIT
#include "work/threads/task_pool.hpp"

#include <gmock/gmock.h>

#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ingot::test {
namespace {

/// Waits until a token says that it is enough.
bool wait_for(const std::stop_token& stop) {
  std::promise<void> told;
  const std::stop_callback tell(stop, [&] { told.set_value(); });
  told.get_future().wait();
  return true;
}

TEST(TaskPool, RunsTasksThatWaitForOneAnother) {
  TaskPool pool;
  std::promise<int> given;
  const auto taker =
      pool.start([&](const std::stop_token&) { return given.get_future().get() + 1; });
  const auto giver = pool.start([&](const std::stop_token&) {
    given.set_value(41);
    return true;
  });
  EXPECT_EQ(taker.get(), 42);
  EXPECT_TRUE(giver.get());
  EXPECT_TRUE(taker.is_done());
}

TEST(TaskPool, KeepsItsThreads) {
  TaskPool pool;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 50; ++i) {
    const auto task = pool.start([](const std::stop_token&) { return std::this_thread::get_id(); });
    threads.insert(task.get());
  }
  // A task is done a moment before its thread has nothing to do.
  EXPECT_LT(threads.size(), 25u);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(TaskPool, EndsWhatNobodyWantsAnyMore) {
  TaskPool pool;
  std::vector<Task<bool>> tasks;
  for (int i = 0; i < 8; ++i) {
    tasks.push_back(pool.start([](const std::stop_token& stop) { return wait_for(stop); }));
  }
  EXPECT_FALSE(tasks.back().is_done());
  tasks.back().cancel();
  EXPECT_TRUE(tasks.back().get());
  tasks.clear();
}

TEST(TaskPool, PassesOnWhatIsThrown) {
  TaskPool pool;
  const auto task =
      pool.start([](const std::stop_token&) -> int { throw std::runtime_error("no memory"); });
  EXPECT_THROW(static_cast<void>(task.get()), std::runtime_error);
}

TEST(Task, IsNoneAtFirst) {
  Task<int> task;
  EXPECT_FALSE(task.is_started());
  TaskPool pool;
  task = pool.start([](const std::stop_token&) { return 7; });
  EXPECT_TRUE(task.is_started());
  EXPECT_EQ(task.get(), 7);
}

}  // namespace
}  // namespace ingot::test
