// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/forced_target.hpp"

namespace ingot::test {
namespace {

constexpr codec::KernelTable<int> positions = {0, 1, 2, 3, 4, 5};

TEST(CpuTargets, EachCanBeForced) {
  const int best = codec::kernel_of(positions);
  for (const std::int64_t target : cpu_targets()) {
    const ForcedTarget forced(target);
    const int found = codec::kernel_of(positions);
    EXPECT_GE(found, best) << target_name(target);
    EXPECT_EQ(target == cpu_targets().front(), found == best) << target_name(target);
  }
  EXPECT_EQ(codec::kernel_of(positions), best);
}

TEST(CpuTargets, TheEnvironmentCanNameOne) {
  const std::int64_t last = cpu_targets().back();
  ASSERT_EQ(::setenv("INGOT_CPU", target_name(last).c_str(), 1), 0);
  codec::force_cpu_targets(0);
  EXPECT_EQ(codec::kernel_of(positions), 5);
  ASSERT_EQ(::setenv("INGOT_CPU", "no such CPU", 1), 0);
  codec::force_cpu_targets(0);
  const int best = codec::kernel_of(positions);
  ASSERT_EQ(::unsetenv("INGOT_CPU"), 0);
  codec::force_cpu_targets(0);
  EXPECT_EQ(codec::kernel_of(positions), best);
}

}  // namespace
}  // namespace ingot::test
