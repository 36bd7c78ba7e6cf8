// SPDX-License-Identifier: MIT
// Random numbers for tests: another seed in each run, printed by a test that fails with it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace ingot::test {

/// INGOT_TEST_SEED if it is set, to repeat a run that failed; else a new one.
[[nodiscard]] inline std::uint64_t random_seed() {
  if (const char* chosen = std::getenv("INGOT_TEST_SEED")) return std::stoull(chosen);
  return (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
}

/// splitmix64: short, and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed = random_seed())
      : state_(seed),
        trace_(__FILE__, __LINE__, "repeat with INGOT_TEST_SEED=" + std::to_string(seed)) {}

  std::uint64_t operator()() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// A number below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }

 private:
  std::uint64_t state_;
  testing::ScopedTrace trace_;
};

}  // namespace ingot::test
