// SPDX-License-Identifier: MIT
// The arithmetic of the rules' expressions, as Python has it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The integer of a value; nothing if it is none, or too large.
[[nodiscard]] std::optional<std::int64_t> whole_number(const nlohmann::json& value);

[[nodiscard]] std::optional<double> real_number(const nlohmann::json& value);

/// `a SYMBOL b` for + - * / // % **; null if one of them is absent.
[[nodiscard]] Result<nlohmann::json> compute(const std::string& symbol, const nlohmann::json& a,
                                             const nlohmann::json& b);

/// The value of a function that depends on its arguments alone. Errc::import_refused if none has
/// this name and so many arguments.
[[nodiscard]] Result<nlohmann::json> call_function(const std::string& name,
                                                   std::span<const nlohmann::json> arguments);

/// The error for a rule whose numbers config.json does not have.
[[nodiscard]] Failure not_computable(const std::string& what);

}  // namespace ingot::huggingface
