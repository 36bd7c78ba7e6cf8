// SPDX-License-Identifier: MIT
// The tables of the format: tensor types, value types, file types.
//
// All functions here are thread-safe, O(1) and do not allocate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/describe.hpp"
#include "ingot/export.h"

namespace ingot {

enum class Endian : std::uint8_t { little, big };

/// The encoding of a tensor's data. The value is the id in the file; a model that was opened
/// leniently may hold ids that have no enumerator (removed or unknown types).
enum class TensorType : std::uint32_t {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights) enumerator = id,
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
};

/// Whether the quantizer of a type uses importance weights.
enum class ImportanceWeights : std::uint8_t { unused, optional, recommended, required };
/// "unused", "optional", "recommended", "required"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(ImportanceWeights weights) noexcept;

/// One row of tensor_types.def.
struct TensorTypeInfo {
  TensorType type;
  std::string_view name;         ///< The name in the format's documentation, e.g. "Q4_K".
  std::uint32_t block_elements;  ///< Consecutive elements of a row in one block; 1 if plain.
  std::uint32_t block_bytes;
  ImportanceWeights weights;

  [[nodiscard]] constexpr double bits_per_weight() const noexcept {
    return 8.0 * block_bytes / block_elements;
  }

  /// The bytes of whole blocks of elements, and the elements of whole blocks of bytes. No overflow
  /// where the elements are those of a tensor that was opened.
  [[nodiscard]] constexpr std::uint64_t bytes_of(std::uint64_t element_count) const noexcept {
    return element_count / block_elements * block_bytes;
  }
  [[nodiscard]] constexpr std::uint64_t elements_of(std::uint64_t size_bytes) const noexcept {
    return size_bytes / block_bytes * block_elements;
  }

  /// Whether elements share a block: they have no numbers of their own.
  [[nodiscard]] constexpr bool is_quantized() const noexcept { return block_elements > 1; }
  /// Whether each element is an integer: I8, I16, I32, I64.
  [[nodiscard]] constexpr bool is_integer() const noexcept {
    using enum TensorType;
    return type == i8 || type == i16 || type == i32 || type == i64;
  }
  /// Whether each element is a float: F32, F16, BF16, F64.
  [[nodiscard]] constexpr bool is_float() const noexcept {
    return !is_quantized() && !is_integer();
  }
};

template <class Visitor>
void describe(Visitor& visit, const TensorTypeInfo& info) {
  visit("id", static_cast<std::uint32_t>(info.type), "", "the number in files");
  visit("type", info.name, "", "the name");
  visit("block_elements", info.block_elements, "elements", "of one block; 1 if it has no blocks");
  visit("block_bytes", info.block_bytes, "bytes", "of one block");
  visit("bits_per_weight", info.bits_per_weight(), "bits", "of one element");
  visit("can_encode", true, "", "Ingot can make such blocks: true for every type of today");
  visit("importance_weights", info.weights, "",
        "of its quantizer: unused, optional, recommended (poor without) or required");
}

/// Every type that can be in a file today, by ascending id.
inline constexpr std::array live_tensor_types = {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights) \
  TensorTypeInfo{TensorType::enumerator, #label, elements, bytes, ImportanceWeights::weights},
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"
};

/// The row of a live type; nullptr for removed and unknown ids.
[[nodiscard]] INGOT_EXPORT const TensorTypeInfo* find_type(TensorType type) noexcept;

/// "Q4_K"; empty for removed and unknown ids.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(TensorType type) noexcept;

/// The row whose name equals `name` without regard to case; nullptr if there is none.
[[nodiscard]] INGOT_EXPORT const TensorTypeInfo* find_type(std::string_view name) noexcept;

/// Whether the type with this id is quantized; false for removed and unknown ids.
[[nodiscard]] INGOT_EXPORT bool is_quantized(TensorType type) noexcept;
[[nodiscard]] INGOT_EXPORT bool is_integer(TensorType type) noexcept;
[[nodiscard]] INGOT_EXPORT bool is_float(TensorType type) noexcept;

/// The name of a removed type, e.g. "Q4_2" for 4; empty if `type` was never removed.
[[nodiscard]] INGOT_EXPORT std::string_view removed_type_name(TensorType type) noexcept;

/// The type for rows that are not whole blocks of `type`: as good or a little better, F16 at worst.
/// Empty for a type that has no fallback.
[[nodiscard]] INGOT_EXPORT std::optional<TensorType> fallback_type(
    TensorType type, std::uint64_t row_elements) noexcept;

/// The type of a metadata value. The value is the id in the file.
enum class ValueType : std::uint8_t {
#define INGOT_VALUE_TYPE(id, enumerator, constant, label, bytes) enumerator = id,
#include "ingot/value_types.def"
};

/// The number of value types; ids are 0 to value_type_count - 1.
inline constexpr std::uint32_t value_type_count = 0
#define INGOT_VALUE_TYPE(id, enumerator, constant, label, bytes) +1
#include "ingot/value_types.def"
    ;

/// "uint8" ... "float64", as in JSON output.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(ValueType type) noexcept;

/// The type with that name; nothing if there is none.
[[nodiscard]] INGOT_EXPORT std::optional<ValueType> find_value_type(std::string_view name) noexcept;

/// Bytes of one value; 0 for strings and arrays, whose size varies.
[[nodiscard]] INGOT_EXPORT std::uint32_t size_bytes_of(ValueType type) noexcept;

/// Whether a value is an integer, of any width and sign; a bool is none.
[[nodiscard]] constexpr bool is_integer(ValueType type) noexcept {
  using enum ValueType;
  return type != float32 && type != float64 && type != boolean && type != string && type != array;
}

/// Whether a value is a float of either width.
[[nodiscard]] constexpr bool is_float(ValueType type) noexcept {
  return type == ValueType::float32 || type == ValueType::float64;
}

/// One row of file_types.def.
struct FileTypeInfo {
  std::uint32_t number;   ///< `general.file_type`
  std::string_view name;  ///< "Q4_K_M"
  TensorType weights;     ///< The tensor type that most weights have.
};

/// Every `general.file_type`, by ascending number.
inline constexpr std::array file_types = {
#define INGOT_FILE_TYPE(number, name, tensor_type) \
  FileTypeInfo{number, name, TensorType::tensor_type},
#include "ingot/file_types.def"
};

/// The row of a `general.file_type`; nullptr if the number is unknown. The flag 1024 ("guessed") is
/// ignored.
[[nodiscard]] INGOT_EXPORT const FileTypeInfo* find_file_type(std::uint64_t file_type) noexcept;

/// The name of a `general.file_type`, e.g. "Q4_K_M" for 15; empty if the number is unknown. The
/// flag 1024 ("guessed") is ignored.
[[nodiscard]] INGOT_EXPORT std::string_view file_type_name(std::uint64_t file_type) noexcept;

/// The tensor type that most weights of a `general.file_type` have; nothing if the number is
/// unknown.
[[nodiscard]] INGOT_EXPORT std::optional<TensorType> type_of_file_type(
    std::uint64_t file_type) noexcept;

/// The `general.file_type` of a model most of whose weights have this type: the one of that name,
/// or the medium mixture. Nothing for types that no file type is made of.
[[nodiscard]] INGOT_EXPORT std::optional<std::uint32_t> file_type_of(TensorType type) noexcept;

}  // namespace ingot
