// SPDX-License-Identifier: MIT
// A projector for people.
#pragma once

#include <ingot/summary.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::cli {

/// Labels with facts: what it takes and gives, of images and of sounds. A label may have no facts;
/// other files have no labels.
[[nodiscard]] std::vector<std::pair<std::string_view, std::vector<std::string>>> projector_facts(
    const Summary& summary);

}  // namespace ingot::cli
