// SPDX-License-Identifier: MIT
// The keys that mean the same in all models, and the types that their values have.
#pragma once

#include <optional>
#include <string_view>

#include "ingot/metadata.hpp"

namespace ingot::check {

/// What a value has to be.
enum class Form : std::uint8_t {
  text,            ///< string
  number,          ///< an integer of any width, not negative
  number_or_list,  ///< the same, or an array of integers: one for each layer
  number32,        ///< uint32, exactly
  real,            ///< float32 or float64
  flag,            ///< bool
  texts,           ///< array of strings
  reals,           ///< array of float32
  numbers32,       ///< array of int32 or uint32
};

/// What the value of a standard key has to be; nothing for other keys. `architecture` may be empty.
[[nodiscard]] std::optional<Form> form_of(std::string_view key,
                                          std::string_view architecture) noexcept;

/// Whether a value has that form.
[[nodiscard]] bool has_form(const Value& value, Form form);

/// "an array of strings": for people.
[[nodiscard]] std::string_view describe(Form form) noexcept;

}  // namespace ingot::check
