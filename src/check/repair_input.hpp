// SPDX-License-Identifier: MIT
// Opens what a reader refuses, and copies values without their flaws, for repair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/owned_value.hpp"
#include "ingot/repair.hpp"

namespace ingot::check {

/// A model that is there, at least in part.
struct RepairInput {
  Model model;
  std::uint64_t present_bytes = 0;  ///< The bytes that a cut file has; else all of them.
  bool is_cut = false;
  bool is_lenient = false;        ///< A strict reader refuses it.
  std::vector<RepairStep> steps;  ///< The repairs that opening it took.
};

/// Opens a file as it is, or with a header that is read as it must have been meant, or without its
/// end. The error of a strict reader if nothing helps.
[[nodiscard]] Result<RepairInput> open_for_repair(const std::string& path);

struct RepairedValue {
  OwnedValue value;
  bool has_set_bools = false;  ///< Bools that were neither 0 nor 1 are 1.
};

/// Copies a value, with all arrays in it: bools become 0 or 1 and, if `cuts_nuls`, strings lose the
/// NULs at their ends, where a reader strips only one.
[[nodiscard]] Result<RepairedValue> repair_value(const Value& value, bool cuts_nuls);

}  // namespace ingot::check
