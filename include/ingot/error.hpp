// SPDX-License-Identifier: MIT
// Errors as values: what went wrong, where, and what would be right.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "ingot/export.h"

namespace ingot {

/// The kind of an error. Numbers are pinned (errors.def) and the same in the C ABI and in JSON
/// output.
enum class Errc : std::uint16_t {
#define INGOT_ERROR(number, name, constant, category, sentence) name = number,
#include "ingot/errors.def"
};

/// Who can act on an error: see errors.def.
enum class ErrorCategory : std::uint8_t { input, lenient, usage, system, notice };

/// The name of a code as written in errors.def, e.g. "key_duplicate".
[[nodiscard]] INGOT_EXPORT std::string_view name_of(Errc code) noexcept;

/// The sentence of a code: the flaw and its remedy.
[[nodiscard]] INGOT_EXPORT std::string_view sentence_of(Errc code) noexcept;

[[nodiscard]] INGOT_EXPORT ErrorCategory category_of(Errc code) noexcept;

/// The option with which the same call would succeed, if the code alone does not say it.
enum class Remedy : std::uint8_t {
  none,
  widen,                  ///< Weights may become F32.
  engine_codes,           ///< The type codes of the engine.
  widen_or_engine_codes,  ///< Either.
  give_context,           ///< A number of tokens, which the model does not say.
};

/// One failure (or, for codes of the category `notice`, one remark).
struct Error {
  static constexpr std::uint64_t no_offset = ~std::uint64_t{0};

  Errc code = Errc::internal;
  std::uint64_t file_offset = no_offset;  ///< Byte in the file, or no_offset.
  std::string subject;                    ///< Key, tensor, field or file; raw bytes, not escaped.
  std::string detail;                     ///< The finding, e.g. "found 13"; may be empty.
  Remedy remedy = Remedy::none;
  /// The things that contain the subject, innermost first, such as a shard or the second of two
  /// models; raw bytes.
  std::vector<std::string> context = {};

  /// One line: subject, context, byte offset, sentence, the value found, and whether opening
  /// leniently would help. Control characters of names are escaped, so it may be printed anywhere.
  [[nodiscard]] INGOT_EXPORT std::string message() const;
};

/// A value or an Error. Use only what std::expected also has.
template <class T>
using Result = tl::expected<T, Error>;

/// The failing side of a Result.
using Failure = tl::unexpected<Error>;

[[nodiscard]] inline Failure fail(Error error) { return Failure(std::move(error)); }
/// A template, so that `fail(code, {}, ...)` means an empty subject and not the offset 0.
template <std::integral Offset>
[[nodiscard]] Failure fail(Errc code, Offset file_offset, std::string subject,
                           std::string detail = {}) {
  return Failure(
      Error{code, static_cast<std::uint64_t>(file_offset), std::move(subject), std::move(detail)});
}
[[nodiscard]] inline Failure fail(Errc code, std::string subject, std::string detail = {}) {
  return fail(code, Error::no_offset, std::move(subject), std::move(detail));
}

}  // namespace ingot

#define INGOT_CONCATENATE_(a, b) a##b
#define INGOT_CONCATENATE(a, b) INGOT_CONCATENATE_(a, b)
#define INGOT_TRY_(declaration, expression, result)                         \
  auto result = (expression);                                               \
  if (!result.has_value()) return ::ingot::fail(std::move(result).error()); \
  declaration = *std::move(result)

/// `INGOT_TRY(const auto x, f());` declares x from a Result, or returns its error.
#define INGOT_TRY(declaration, expression) \
  INGOT_TRY_(declaration, expression, INGOT_CONCATENATE(ingot_result_, __LINE__))

/// `INGOT_TRY_VOID(f());` returns the error of a Result<void>, if there is one.
#define INGOT_TRY_VOID(expression)                                     \
  do {                                                                 \
    if (auto ingot_result_ = (expression); !ingot_result_.has_value()) \
      return ::ingot::fail(std::move(ingot_result_).error());          \
  } while (false)
