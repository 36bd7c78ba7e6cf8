// SPDX-License-Identifier: MIT
// The facts of the architectures behind the memory that a model needs.
#pragma once

#include <string_view>

#include "ingot/architectures.hpp"

namespace ingot::estimate {

using ingot::Purpose;
using ArchitectureRule = ArchitectureMemory;
using Windows = LayerWindows;
using State = LayerState;
using Recurrent = RecurrentLayers;

/// nullptr for an architecture of which no such facts are known.
[[nodiscard]] const ArchitectureRule* find_architecture_rule(std::string_view name);

}  // namespace ingot::estimate
