// SPDX-License-Identifier: MIT
// Values, types and shapes as text, for people and as JSON.
#pragma once

#include <cstdint>
#include <ingot/metadata.hpp>
#include <ingot/types.hpp>
#include <span>
#include <string>

#include "cli/json_stream.hpp"
#include "cli/output.hpp"

namespace ingot::cli {

/// "Q4_K", "removed Q4_2", "unknown (77)"
[[nodiscard]] std::string type_text(TensorType type);

/// "4096 x 14336"; "scalar" without dimensions.
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);

/// A value in at most `columns` columns: `"text"`, `42`, `[string x 32000] "<unk>", "<s>", ...`
[[nodiscard]] std::string short_value_text(const Value& value, std::size_t columns);

/// Prints the whole value on one line.
void print_value(Output& out, const Value& value);

/// `value` as it is in JSON; the key `value_base64` where a string is not UTF-8.
void write_value_member(JsonStream& json, const Value& value, std::string_view prefix = {});

/// Returns use(zero) with a zero of the C++ type that stores a number, a Result; else an error.
template <class Use>
auto with_number_type(ValueType type, const Use& use) -> decltype(use(std::uint8_t{})) {
  switch (type) {
    case ValueType::uint8:
      return use(std::uint8_t{});
    case ValueType::int8:
      return use(std::int8_t{});
    case ValueType::uint16:
      return use(std::uint16_t{});
    case ValueType::int16:
      return use(std::int16_t{});
    case ValueType::uint32:
      return use(std::uint32_t{});
    case ValueType::int32:
      return use(std::int32_t{});
    case ValueType::uint64:
      return use(std::uint64_t{});
    case ValueType::int64:
      return use(std::int64_t{});
    case ValueType::float32:
      return use(float{});
    case ValueType::float64:
      return use(double{});
    default:
      return fail(Errc::invalid_argument, {}, "not a number type");
  }
}

/// Calls `use` with the scalar as std::uint64_t, std::int64_t, float, double, bool or
/// std::string_view.
template <class Use>
void visit_scalar(const Value& value, const Use& use) {
  switch (value.type()) {
    case ValueType::uint8:
    case ValueType::uint16:
    case ValueType::uint32:
    case ValueType::uint64:
      use(value.get<std::uint64_t>().value_or(0));
      break;
    case ValueType::int8:
    case ValueType::int16:
    case ValueType::int32:
    case ValueType::int64:
      use(value.get<std::int64_t>().value_or(0));
      break;
    case ValueType::float32:
      use(value.get<float>().value_or(0));
      break;
    case ValueType::float64:
      use(value.get<double>().value_or(0));
      break;
    case ValueType::boolean:
      use(value.get<bool>().value_or(false));
      break;
    case ValueType::string:
      use(value.get<std::string_view>().value_or(std::string_view{}));
      break;
    case ValueType::array:
      break;
  }
}

}  // namespace ingot::cli
