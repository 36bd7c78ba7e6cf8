// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"

#include <hwy/highway.h>

#include <cstdlib>
#include <string_view>

#include "codec/kernel_choice.hpp"
#include "ingot/quantize.hpp"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace ingot::codec {
namespace {

// The targets in the order of KernelTable.
constexpr std::array<std::int64_t, 6> targets = {HWY_AVX3_DL, HWY_AVX3,  HWY_AVX2,
                                                 HWY_SSE4,    HWY_SSSE3, HWY_STATIC_TARGET};

#if HWY_ARCH_X86
// Features that compilers cannot query under one common name: bits of register ECX of CPUID.
constexpr unsigned basic_leaf = 1;
constexpr unsigned pclmul = 1u << 1;
constexpr unsigned aes = 1u << 25;
constexpr unsigned f16c = 1u << 29;
constexpr unsigned extended_leaf = 7;
constexpr unsigned avx512_vbmi = 1u << 1;
constexpr unsigned avx512_vbmi2 = 1u << 6;
constexpr unsigned gfni = 1u << 8;
constexpr unsigned vaes = 1u << 9;
constexpr unsigned vpclmulqdq = 1u << 10;
constexpr unsigned avx512_vnni = 1u << 11;
constexpr unsigned avx512_bitalg = 1u << 12;
constexpr unsigned avx512_vpopcntdq = 1u << 14;

bool has_all(unsigned leaf, unsigned bits) noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bits) == bits;
}

// The features that Highway's targets require: detect_targets.h and set_macros-inl.h of
// Highway 1.0.3.
bool runs_ssse3() noexcept { return __builtin_cpu_supports("ssse3") != 0; }
bool runs_sse4() noexcept {
  return runs_ssse3() && __builtin_cpu_supports("sse4.2") != 0 && has_all(basic_leaf, pclmul | aes);
}
bool runs_avx2() noexcept {
  return runs_sse4() && has_all(basic_leaf, f16c) && __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}
bool runs_avx3() noexcept {
  return runs_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0;
}
bool runs_avx3_dl() noexcept {
  return runs_avx3() &&
         has_all(extended_leaf, avx512_vbmi | avx512_vbmi2 | gfni | vaes | vpclmulqdq |
                                    avx512_vnni | avx512_bitalg | avx512_vpopcntdq);
}

bool machine_runs(std::int64_t target) noexcept {
  return (target == HWY_AVX3_DL && runs_avx3_dl()) || (target == HWY_AVX3 && runs_avx3()) ||
         (target == HWY_AVX2 && runs_avx2()) || (target == HWY_SSE4 && runs_sse4()) ||
         (target == HWY_SSSE3 && runs_ssse3());
}
#else
bool machine_runs(std::int64_t) noexcept { return false; }
#endif

int best_of(std::int64_t allowed) noexcept {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if ((targets[i] & allowed) != 0) return static_cast<int>(i);
  }
  return static_cast<int>(targets.size()) - 1;
}

/// The target that INGOT_CPU requests; without a valid request, all usable targets.
std::int64_t requested_targets() noexcept {
  const char* name = std::getenv("INGOT_CPU");
  if (name == nullptr) return usable_cpu_targets();
  for (std::int64_t rest = usable_cpu_targets(); rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if (std::string_view(name) == hwy::TargetName(target)) return target;
  }
  return usable_cpu_targets();
}

}  // namespace

std::atomic<int> detail::chosen_kernel = -1;

int detail::choose_kernel() noexcept {
  const int chosen = best_of(requested_targets());
  chosen_kernel.store(chosen, std::memory_order_relaxed);
  return chosen;
}

int chosen_kernel_position() noexcept {
  const int chosen = detail::chosen_kernel.load(std::memory_order_relaxed);
  return chosen < 0 ? detail::choose_kernel() : chosen;
}

std::int64_t usable_cpu_targets() noexcept {
  static const std::int64_t usable = [] {
    std::int64_t found = HWY_STATIC_TARGET;
    for (const std::int64_t target : targets) {
      if ((target & HWY_TARGETS) != 0 && machine_runs(target)) found |= target;
    }
    return found;
  }();
  return usable;
}

void force_cpu_targets(std::int64_t wanted) noexcept {
  if (wanted == 0) {
    detail::choose_kernel();
  } else {
    detail::chosen_kernel.store(best_of(wanted & usable_cpu_targets()), std::memory_order_relaxed);
  }
}

}  // namespace ingot::codec

std::string_view ingot::cpu_target() noexcept {
  return hwy::TargetName(codec::targets[static_cast<std::size_t>(codec::chosen_kernel_position())]);
}
