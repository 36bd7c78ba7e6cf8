// SPDX-License-Identifier: MIT
// A function of which each CPU runs a version of its own. Included once per CPU target, after
// hwy/highway.h.

#include "codec/cpu_targets.hpp"

/// Defines codec::function: the version of the CPU that runs it, from the last target on.
#undef INGOT_EXPORT_KERNEL
#if HWY_ONCE
#define INGOT_EXPORT_KERNEL(Kernel, function, parameters, arguments)          \
  namespace ingot::codec {                                                    \
  INGOT_KERNELS(Kernel);                                                      \
  void function parameters noexcept { kernel_of(Kernel##Kernels) arguments; } \
  }
#else
#define INGOT_EXPORT_KERNEL(Kernel, function, parameters, arguments)
#endif

/// Defines Kernel for this CPU target with a body, which is the last argument, and codec::function.
/// Outside of all namespaces.
#undef INGOT_KERNEL
#define INGOT_KERNEL(Kernel, function, parameters, arguments, ...) \
  HWY_BEFORE_NAMESPACE();                                          \
  namespace ingot::codec::HWY_NAMESPACE {                          \
  void Kernel parameters { __VA_ARGS__; }                          \
  }                                                                \
  HWY_AFTER_NAMESPACE();                                           \
  INGOT_EXPORT_KERNEL(Kernel, function, parameters, arguments)
