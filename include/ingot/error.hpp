// SPDX-License-Identifier: MIT
// Errors as values: what went wrong, where, and what would be right.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
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

/// The sentence of a code: the flaw, and its remedy where no advice stands apart.
[[nodiscard]] INGOT_EXPORT std::string_view sentence_of(Errc code) noexcept;

/// The advice that Error::message() gives after the sentence, e.g. "fetch the file again"; empty
/// for most.
[[nodiscard]] INGOT_EXPORT std::string_view advice_of(Errc code) noexcept;

[[nodiscard]] INGOT_EXPORT ErrorCategory category_of(Errc code) noexcept;

/// The option with which the same call would succeed, if the code alone does not say it.
enum class Remedy : std::uint8_t {
#define INGOT_REMEDY(name, meaning) name,
#include "ingot/remedies.def"
};

/// The name of a remedy as written in remedies.def, e.g. "give_context"; "none" for none.
[[nodiscard]] INGOT_EXPORT std::string_view name_of(Remedy remedy) noexcept;

/// The surroundings of an error in a text, such as a chat template.
struct TextExcerpt {
  /// A macro whose body failed.
  struct Call {
    std::string macro;
    std::uint32_t line = 0;  ///< The line of the call, counted from 1.
  };

  std::string source_line;  ///< The line, without its line end.
  std::vector<Call> calls;  ///< Innermost first.
};

/// One failure (or, for codes of the category `notice`, one remark).
struct Error {
  static constexpr std::uint64_t no_offset = ~std::uint64_t{0};

  Errc code = Errc::internal;
  std::uint64_t file_offset = no_offset;  ///< Byte in the file, or no_offset.
  std::string subject;                    ///< Key, tensor, field or file; raw bytes, not escaped.
  std::string detail;                     ///< The finding, e.g. "found 13"; may be empty.
  Remedy remedy = Remedy::none;
  std::uint32_t line = 0;    ///< The line of a text, such as a chat template, from 1; 0: none.
  std::uint32_t column = 0;  ///< Characters, from 1; 0 if it is not known.
  int system_number = 0;     ///< The `errno` of a call that failed; 0 if none did.
  /// The things that contain the subject, innermost first, such as a shard or the second of two
  /// models; raw bytes.
  std::vector<std::string> context = {};
  std::shared_ptr<const TextExcerpt> excerpt = {};  ///< A part of a chat template, or null.

  /// One line: subject, context, byte offset, sentence, the line and the value found, and whether
  /// opening leniently would help. Control characters of names are escaped, so it may be printed
  /// anywhere.
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

/// The failure of a result that has no value.
template <class T>
[[nodiscard]] Failure failure_of(Result<T>&& result) {
  return Failure(std::move(result).error());
}

}  // namespace ingot

#define INGOT_CONCATENATE_(a, b) a##b
#define INGOT_CONCATENATE(a, b) INGOT_CONCATENATE_(a, b)
#define INGOT_TRY_(declaration, expression, result, failure) \
  auto result = (expression);                                \
  if (!result.has_value()) return failure;                   \
  declaration = *std::move(result)

/// `INGOT_TRY(const auto x, f());` declares x from a Result, or returns its error. A type beside
/// Result needs has_value(), operator* and failure_of().
#define INGOT_TRY(declaration, expression)                                        \
  INGOT_TRY_(declaration, expression, INGOT_CONCATENATE(ingot_result_, __LINE__), \
             failure_of(std::move(INGOT_CONCATENATE(ingot_result_, __LINE__))))

/// `INGOT_TRY_VOID(f());` returns the error of a Result<void>, if there is one.
#define INGOT_TRY_VOID(expression)                                     \
  do {                                                                 \
    if (auto ingot_result_ = (expression); !ingot_result_.has_value()) \
      return ::ingot::fail(std::move(ingot_result_).error());          \
  } while (false)
