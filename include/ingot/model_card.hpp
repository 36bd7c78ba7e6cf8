// SPDX-License-Identifier: MIT
// The facts that the card and the name of a model state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

/// A value of the front matter of a model card. A scalar is its text, whatever a reader of YAML
/// would make of it: the language `no` stays one.
struct CardValue {
  enum class Kind : std::uint8_t { null, text, list, object };

  Kind kind = Kind::null;
  std::string text;
  std::vector<CardValue> items;    ///< The elements of a list, or the values of an object.
  std::vector<std::string> names;  ///< The names of an object's values, as many as items.

  /// The value of a member; of the last one, if several have this name; a null if there is none.
  [[nodiscard]] INGOT_EXPORT const CardValue& operator[](std::string_view name) const noexcept;
  [[nodiscard]] INGOT_EXPORT bool contains(std::string_view name) const noexcept;
  [[nodiscard]] bool is_text() const noexcept { return kind == Kind::text; }
};

/// Reads the front matter of a model card: the YAML between the first lines `---` of README.md.
///
/// @param text  of README.md.
/// @param file  its name in messages.
/// @return      an object, empty if there is no front matter or it is none;
///              Errc::import_refused with the line where it is not YAML, or where an alias
///              stands; Errc::limit_exceeded for values nested deeper than 64.
///
/// Linear.
[[nodiscard]] INGOT_EXPORT Result<CardValue> parse_model_card(std::string_view text,
                                                              const std::string& file);

/// Reads a document of YAML with one object, in the same way.
[[nodiscard]] INGOT_EXPORT Result<CardValue> parse_yaml(std::string_view text,
                                                        const std::string& file);

/// The text as it is, if every YAML reader takes it for a text; else in double quotes, with escapes
/// for characters that YAML would not keep or that could drive a terminal.
[[nodiscard]] INGOT_EXPORT std::string yaml_scalar(std::string_view text);

/// The parts of a model's name: "org/Base-7B-Instruct-v1.5". Those that are not there are not set.
struct ModelId {
  std::string full_name;  ///< The name without the organization.
  std::optional<std::string> organization;
  std::optional<std::string> basename;
  std::optional<std::string> finetune;
  std::optional<std::string> version;
  std::optional<std::string> size_label;
};

/// Takes a name apart as the reference converter does.
///
/// @param parameter_count  of the model; 0 if it is unknown; negative for an adapter. A size that
///                         is far from it is a context length.
[[nodiscard]] INGOT_EXPORT ModelId parse_model_id(std::string_view id,
                                                  std::int64_t parameter_count);

/// A model's name as a title: "base-model 7b v2" is "Base Model 7b v2".
[[nodiscard]] INGOT_EXPORT std::string model_title(std::string_view name);

}  // namespace ingot
