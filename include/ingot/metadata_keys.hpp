// SPDX-License-Identifier: MIT
// The standard keys of metadata: names, forms of the values, meanings. docs/metadata-keys.md lists
// them.
//
//   model.get<std::string_view>(ingot::keys::general_name);
//   ingot::find_key("llama.block_count", "llama")->meaning;  // "number of layers"
//
// All functions here are thread-safe and do not allocate, unless they return a string.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// Keys of any model: keys::general_architecture is "general.architecture".
namespace keys {
#define INGOT_METADATA_KEY(constant, key, form, meaning) \
  inline constexpr std::string_view constant = key;
#include "ingot/metadata_keys.def"

/// Keys of vocabularies begin so; keys of special tokens also end so.
inline constexpr std::string_view tokenizer_prefix = "tokenizer.ggml.";
inline constexpr std::string_view token_id_suffix = "_token_id";
}  // namespace keys

/// Keys that follow the architecture and a dot: suffixes::block_count is "block_count", of a key
/// such as "llama.block_count".
namespace suffixes {
#define INGOT_ARCHITECTURE_KEY(constant, suffix, form, meaning) \
  inline constexpr std::string_view constant = suffix;
#include "ingot/metadata_keys.def"
}  // namespace suffixes

/// The values that a standard key may have.
enum class KeyForm : std::uint8_t {
  text,             ///< string
  number,           ///< integer of any type, not negative
  number_or_list,   ///< an integer, or an array of integers: one for each layer
  number_or_flags,  ///< an integer, or an array of bools: one for each layer
  uint32,           ///< uint32, exactly
  real,             ///< float32 or float64
  flag,             ///< bool
  texts,            ///< array of strings
  reals,            ///< array of float32
  integers,         ///< array of int32 or uint32
  bytes,            ///< array of int8 or uint8
};

/// One row of metadata_keys.def.
struct MetadataKeyInfo {
  std::string_view name;  ///< The key; only the suffix where `has_architecture`.
  bool has_architecture;  ///< Whether the key begins with the architecture and a dot.
  KeyForm form;
  std::string_view meaning;
};

/// All rows of metadata_keys.def.
inline constexpr std::array standard_keys = {
#define INGOT_METADATA_KEY(constant, key, form, meaning) \
  MetadataKeyInfo{key, false, KeyForm::form, meaning},
#include "ingot/metadata_keys.def"
#define INGOT_ARCHITECTURE_KEY(constant, suffix, form, meaning) \
  MetadataKeyInfo{suffix, true, KeyForm::form, meaning},
#include "ingot/metadata_keys.def"
};

/// The row of a key in a model of that architecture, which may be empty; nullptr if the key is no
/// standard one. O(rows).
[[nodiscard]] INGOT_EXPORT const MetadataKeyInfo* find_key(std::string_view key,
                                                           std::string_view architecture) noexcept;

/// The name of a form for people: "an array of strings".
[[nodiscard]] INGOT_EXPORT std::string_view name_of(KeyForm form) noexcept;

/// The type of a new value, or of the elements of a new array, as most writers choose it.
struct KeyType {
  ValueType type;
  bool is_array = false;
};

/// `wants_array` decides where the form permits a single value and an array.
[[nodiscard]] INGOT_EXPORT KeyType usual_type(KeyForm form, bool wants_array = false) noexcept;

/// The role of a special token, such as "bos" for "tokenizer.ggml.bos_token_id"; empty for any
/// other key.
[[nodiscard]] INGOT_EXPORT std::string_view token_role(std::string_view key) noexcept;

/// The key of a special token's id, by its role.
[[nodiscard]] INGOT_EXPORT std::string token_id_key(std::string_view role);

}  // namespace ingot
