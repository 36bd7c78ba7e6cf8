// SPDX-License-Identifier: MIT
// A lock that costs nothing where a program has one thread: WebAssembly's standard library has no
// other.
#pragma once

#ifdef __STDCPP_THREADS__
#include <mutex>
#endif

namespace ingot {

#ifdef __STDCPP_THREADS__
using Mutex = std::mutex;
using MutexLock = std::lock_guard<std::mutex>;
#else
struct Mutex {};
struct MutexLock {
  explicit MutexLock(Mutex&) noexcept {}
  ~MutexLock() {}
};
#endif

}  // namespace ingot
