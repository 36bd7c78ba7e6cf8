// SPDX-License-Identifier: MIT
// The values that options and arguments take, by the names that help gives them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

enum class ValueKind : std::uint8_t {
  other,
  file,
  command,
  mixture,
  tensor_type,
  key,
  tensor,
  rule,
  device
};

/// The kind of a value called so: "FILE", "KEY-GLOB". An option's TYPE is that of tensors, an
/// argument's a mixture.
[[nodiscard]] ValueKind kind_of_value(std::string_view name, bool is_argument);

/// A word that fits, and its meaning.
struct Candidate {
  std::string word;
  std::string meaning;
};

/// All words of a kind, except kinds that only the caller or the shell knows. `file` is the model
/// whose keys or tensors are wanted; if it does not open, the standard keys are listed.
[[nodiscard]] std::vector<Candidate> candidates_of(ValueKind kind, const std::string& file);

}  // namespace ingot::cli
