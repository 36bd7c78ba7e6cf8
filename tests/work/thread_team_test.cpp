// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ingot/parallel.hpp"
#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

TEST(ThreadTeam, DoesEachItemOfManyCallsOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    ThreadTeam team(threads);
    std::vector<std::atomic<int>> visits(1000);
    for (int call = 0; call < 200; ++call) {
      ASSERT_THAT(team.spread(visits.size(), 9,
                              [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
                                for (std::uint64_t i = first; i < first + count; ++i) ++visits[i];
                                return {};
                              }),
                  Succeeds());
      for (const auto& visit : visits) ASSERT_EQ(visit.load(), call + 1);
    }
  }
}

TEST(ThreadTeam, KeepsItsThreads) {
  ThreadTeam team(3);
  std::mutex mutex;
  static std::atomic<int> begun = 0;
  std::set<int> threads;
  for (int call = 0; call < 100; ++call) {
    // Each of the three pieces waits for the others, so that each has a thread of its own.
    std::atomic<int> arrived = 0;
    ASSERT_THAT(team.spread(3, 1,
                            [&](std::uint64_t, std::uint64_t) -> Result<void> {
                              ++arrived;
                              while (arrived.load() < 3) std::this_thread::yield();
                              const std::lock_guard lock(mutex);
                              thread_local const int number = ++begun;
                              threads.insert(number);
                              return {};
                            }),
                Succeeds());
  }
  EXPECT_EQ(threads.size(), 3u);
}

TEST(ThreadTeam, WorksForSeveralThreadsAndFromWithinAPiece) {
  ThreadTeam team(3);
  std::atomic<std::uint64_t> sum = 0;
  const auto add = [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
    sum += first + count;
    return {};
  };
  const auto nest = [&](std::uint64_t, std::uint64_t) { return team.spread(10, 1, add); };
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 50; ++call) EXPECT_THAT(team.spread(8, 1, nest), Succeeds());
    });
  }
  callers.clear();
  EXPECT_EQ(sum.load(), 4u * 50u * 8u * 55u);
}

TEST(ThreadTeam, IsUsableAfterErrorsAndExceptions) {
  ThreadTeam team(4);
  for (int call = 0; call < 100; ++call) {
    const auto failed = team.spread(100, 1, [](std::uint64_t first, std::uint64_t) -> Result<void> {
      if (first < 5) return {};
      return fail(Errc::invalid_argument, std::to_string(first));
    });
    ASSERT_THAT(failed, FailsWith(Errc::invalid_argument));
    ASSERT_EQ(failed.error().subject, "5");
    EXPECT_THROW(static_cast<void>(team.spread(100, 1,
                                               [](std::uint64_t, std::uint64_t) -> Result<void> {
                                                 throw std::runtime_error("from the work");
                                               })),
                 std::runtime_error);
  }
  EXPECT_THAT(team.spread(1, 0, {}), FailsWith(Errc::invalid_argument));
}

TEST(ThreadTeam, LeavesAForkedChildItsOwnTeams) {
  ThreadTeam team(2);
  const auto work = [](std::uint64_t, std::uint64_t) -> Result<void> { return {}; };
  ASSERT_THAT(team.spread(100, 1, work), Succeeds());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(spread(100, 1, 2, work) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(team.spread(100, 1, work), Succeeds());
}

}  // namespace
}  // namespace ingot::test
