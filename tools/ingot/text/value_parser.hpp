// SPDX-License-Identifier: MIT
// Values of any type from text: what people type, and JSON for arrays.
#pragma once

#include <cstddef>
#include <ingot/error.hpp>
#include <ingot/metadata.hpp>
#include <ingot/owned_value.hpp>
#include <ingot/types.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::cli {

/// The type of a value; the type of an array names its elements: `uint16[][]` is an array of
/// arrays.
struct ValueSpec {
  std::optional<ValueType> scalar;  ///< Nothing if all arrays are empty, so that no type is known.
  std::size_t depth = 0;            ///< The number of arrays around it.
};

/// Reads `uint32`, `string[]`, `u8`, ...; nothing if it is no type.
[[nodiscard]] std::optional<ValueSpec> parse_value_spec(std::string_view text);

/// The type that a value has; nested arrays by the first one in them.
[[nodiscard]] ValueSpec spec_of(const Value& value);

[[nodiscard]] std::string spec_text(const ValueSpec& spec);

/// Parses a value that a user typed: a string as it is, numbers in decimal, a bool as true, yes or
/// 1, or false, no or 0, arrays as JSON. In arrays, {"base64": "..."} is a string of any bytes, and
/// {"type": "uint16", "values": [...]} an array of another type than its neighbours.
/// Errc::invalid_argument describes the fault.
[[nodiscard]] Result<OwnedValue> parse_value(const ValueSpec& spec, std::string_view text);

/// The type that a text looks like: the first that can hold it of uint32, int32, uint64, int64,
/// float32, bool and, if it is in brackets, arrays of these and of strings; else string.
[[nodiscard]] ValueSpec likely_spec(std::string_view text);

/// A value from the content of a file: a string and an array of bytes as they are, all else as
/// above.
[[nodiscard]] Result<OwnedValue> value_of_content(const ValueSpec& spec, std::string_view content);

}  // namespace ingot::cli
