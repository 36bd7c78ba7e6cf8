// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace ingot::test {

inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;

}  // namespace ingot::test
