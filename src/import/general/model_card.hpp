// SPDX-License-Identifier: MIT
// The front matter of a model card: YAML between the first lines `---` of README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::hf {

/// A value of the front matter. A scalar is its text, whatever a reader of YAML would make of it:
/// the language `no` stays one.
struct CardValue {
  enum class Kind : std::uint8_t { null, text, list, object };

  Kind kind = Kind::null;
  std::string text;
  std::vector<CardValue> items;    ///< Of a list; of an object, its values.
  std::vector<std::string> names;  ///< Of an object, as many as items.

  /// The value of a member; of the last one, if several have this name; a null if there is none.
  [[nodiscard]] INGOT_EXPORT const CardValue& operator[](std::string_view name) const noexcept;
  [[nodiscard]] INGOT_EXPORT bool contains(std::string_view name) const noexcept;
  [[nodiscard]] bool is_text() const noexcept { return kind == Kind::text; }
};

/// Reads the text of a README.md.
///
/// @param file  its name in messages.
/// @return      an object, empty if there is no front matter or it is none;
///              Errc::import_refused with the line where it is not YAML, or where an alias
///              stands; Errc::limit_exceeded for values nested deeper than 64.
///
/// Linear.
[[nodiscard]] INGOT_EXPORT Result<CardValue> parse_model_card(std::string_view text,
                                                              const std::string& file);

}  // namespace ingot::hf
