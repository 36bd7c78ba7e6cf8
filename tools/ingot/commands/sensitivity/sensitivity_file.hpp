// SPDX-License-Identifier: MIT
// What `ingot sensitivity` finds, as a file: the JSON that the command prints, too.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <ingot/sensitivity.hpp>
#include <string>
#include <vector>

#include "cli/json_stream.hpp"

namespace ingot::cli {

struct SensitivityFacts {
  std::string model;
  std::string text;
  std::string importance;  ///< The file; empty without.
  std::uint64_t chunk_count = 0;
  std::uint64_t chunk_tokens = 0;
  bool is_complete = false;  ///< False where a run was stopped.
  /// A part of the tensors, as I/N, and what all parts have in common (basis_of); else empty.
  std::string part = {};
  std::string basis = {};
  std::vector<TensorSensitivity> tensors = {};

  /// Whether measurements of both can stand side by side.
  [[nodiscard]] bool has_basis_of(const SensitivityFacts& other) const noexcept {
    return model == other.model && text == other.text && importance == other.importance &&
           chunk_count == other.chunk_count && chunk_tokens == other.chunk_tokens &&
           part == other.part && basis == other.basis;
  }
};

void write_sensitivity_json(JsonStream& json, const SensitivityFacts& facts);

/// Writes the file, which appears complete or not at all.
[[nodiscard]] Result<void> write_sensitivity_file(const std::string& path,
                                                  const SensitivityFacts& facts, bool replace);

/// Reads such a file; the error is one line that says what is wrong with it.
[[nodiscard]] tl::expected<SensitivityFacts, std::string> read_sensitivity_file(
    const std::string& path);

}  // namespace ingot::cli
