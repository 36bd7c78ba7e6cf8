// SPDX-License-Identifier: MIT
// Running the same test with every kernel that this CPU can run.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

#include "codec/cpu_targets.hpp"

namespace ingot::test {

/// The CPU targets (HWY_AVX2, ...) that are built in and that this machine can run, best first.
[[nodiscard]] inline std::vector<std::int64_t> cpu_targets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t rest = codec::usable_cpu_targets(); rest != 0; rest &= rest - 1) {
    targets.push_back(rest & -rest);
  }
  return targets;
}

/// Forces one target while it lives.
class ForcedTarget {
 public:
  explicit ForcedTarget(std::int64_t target) { codec::force_cpu_targets(target); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
  ~ForcedTarget() { codec::force_cpu_targets(0); }
};

[[nodiscard]] inline std::string target_name(std::int64_t target) {
  return hwy::TargetName(target);
}

}  // namespace ingot::test
