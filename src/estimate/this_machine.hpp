// SPDX-License-Identifier: MIT
// The memory of the machine, as the files of its system and the drivers of its cards tell it.
#pragma once

#include <string>
#include <vector>

#include "ingot/estimate.hpp"

namespace ingot::estimate {

/// What the files of a system tell: /proc, and /sys for cards whose driver is part of Linux. `root`
/// is the folder that holds both, which ends in "/".
[[nodiscard]] ThisMachine read_machine(const std::string& root);

/// NVIDIA's cards, as the library of their driver (NVML) tells; none where it is missing, and in a
/// program that cannot load libraries.
[[nodiscard]] std::vector<Device> find_nvidia_cards();

}  // namespace ingot::estimate
