// SPDX-License-Identifier: MIT
// The choice of kernels: the best of the CPU, or those that were requested.
//
// Highway compiles each kernel for every CPU target; this chooses among them. It stands in for the
// run-time part of Highway, which is a shared library: without that, Highway is needed to build
// Ingot and not to run it, and a program that links Ingot starts as fast as before.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ingot::codec {

/// The versions of a kernel, best first; those that were not built are null. The last is for
/// the baseline of the compiler, which every CPU runs.
template <class Function>
using KernelTable = std::array<Function, 6>;

/// The CPU targets (HWY_AVX2, ...; a bit each) that are built in and that this machine can run.
[[nodiscard]] std::int64_t usable_cpu_targets() noexcept;

/// Restricts all kernels to `targets`, at least one of them usable; 0 lifts the restriction. It is
/// for tests and benchmarks; no other thread may decode or encode meanwhile.
void force_cpu_targets(std::int64_t targets) noexcept;

namespace detail {

/// Position in every KernelTable; negative before the first use.
extern std::atomic<int> chosen_kernel;

/// Chooses the best usable kernel, or the one that INGOT_CPU names ("AVX2"). Unknown names and
/// targets that this machine cannot run change nothing.
int choose_kernel() noexcept;

}  // namespace detail

/// The version that runs now.
template <class Function>
[[nodiscard]] inline Function kernel_of(const KernelTable<Function>& table) noexcept {
  int chosen = detail::chosen_kernel.load(std::memory_order_relaxed);
  if (chosen < 0) chosen = detail::choose_kernel();
  return table[static_cast<std::size_t>(chosen)];
}

}  // namespace ingot::codec

/// Declares the versions of a function of namespace HWY_NAMESPACE; once, after the last target.
#define INGOT_KERNELS(Function)                                                                \
  static constexpr KernelTable<decltype(&HWY_STATIC_DISPATCH(Function))> Function##Kernels = { \
      HWY_CHOOSE_AVX3_DL(Function), HWY_CHOOSE_AVX3(Function),  HWY_CHOOSE_AVX2(Function),     \
      HWY_CHOOSE_SSE4(Function),    HWY_CHOOSE_SSSE3(Function), &HWY_STATIC_DISPATCH(Function)}
