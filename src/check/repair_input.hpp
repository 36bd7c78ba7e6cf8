// SPDX-License-Identifier: MIT
// Opens what a reader refuses, for repair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/repair.hpp"

namespace ingot::check {

/// A model that is there, at least in part.
struct RepairInput {
  Model model;
  std::uint64_t present_bytes = 0;  ///< Of a cut file; else all of it.
  bool is_cut = false;
  bool is_lenient = false;        ///< A strict reader refuses it.
  std::vector<RepairStep> steps;  ///< The repairs that opening it took.
};

/// Opens a file as it is, or with a header that is read as it must have been meant, or without its
/// end. The error of a strict reader if nothing helps.
[[nodiscard]] Result<RepairInput> open_for_repair(const std::string& path);

}  // namespace ingot::check
