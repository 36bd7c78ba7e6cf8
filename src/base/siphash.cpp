// SPDX-License-Identifier: MIT
#include "base/siphash.hpp"

#include <chrono>
#include <cstdint>

#include "system/process.hpp"

namespace ingot {
namespace {

SipKey make_key() noexcept {
  SipKey key;
  if (system::fill_randomly(&key, sizeof key)) return key;
  // Shortly after a machine has started there may be no randomness yet. The author of a file still
  // does not know the clock and the address layout.
  key.k0 = static_cast<std::uint64_t>(
      std::chrono::high_resolution_clock::now().time_since_epoch().count());
  key.k1 = reinterpret_cast<std::uintptr_t>(&key) ^ reinterpret_cast<std::uintptr_t>(&make_key);
  return key;
}

}  // namespace

SipKey process_key() noexcept {
  static const SipKey key = make_key();
  return key;
}

}  // namespace ingot
