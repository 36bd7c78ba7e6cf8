// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"

#include <hwy/highway.h>

#include <cstdlib>
#include <string_view>

namespace ingot::codec {
namespace {

bool obey(std::string_view name) noexcept {
  for (std::int64_t rest = usable_cpu_targets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if (name != hwy::TargetName(target)) continue;
    force_cpu_targets(target);
    return true;
  }
  return false;
}

}  // namespace

std::int64_t usable_cpu_targets() noexcept {
  // What the machine can run does not depend on what was forced.
  static const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

void force_cpu_targets(std::int64_t targets) noexcept {
  static_cast<void>(usable_cpu_targets());
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void obey_environment() noexcept {
  static const bool done = [] {
    const char* name = std::getenv("INGOT_CPU");
    return name != nullptr && obey(name);
  }();
  static_cast<void>(done);
}

}  // namespace ingot::codec
