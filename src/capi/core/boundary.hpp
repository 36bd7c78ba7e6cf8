// SPDX-License-Identifier: MIT
// The edge of every function of the C interface: arguments in, errors out, nothing
// thrown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "ingot/error.hpp"
#include "ingot/ingot.h"
#include "ingot/model.hpp"

struct ingot_model {
  ingot::Model model;
};

namespace ingot::capi {

/// Describes `error` unless the caller passed NULL; returns its code.
INGOT_EXPORT ingot_code report(const Error& error, ingot_error* destination);

/// Reports a code alone, without allocation.
INGOT_EXPORT ingot_code report(Errc code, ingot_error* destination) noexcept;

/// Runs the body of a function, which returns a Result<void>. The only place that catches.
template <class Body>
ingot_code at_boundary(ingot_error* error, Body&& body) noexcept {
  try {
    const Result<void> result = body();
    return result.has_value() ? INGOT_OK : report(result.error(), error);
  } catch (const std::bad_alloc&) {
    return report(Errc::out_of_memory, error);
  } catch (...) {
    return report(Errc::internal, error);
  }
}

/// Fails with Errc::invalid_argument unless the pointer of that name is set.
[[nodiscard]] INGOT_EXPORT Result<void> require(bool is_there, std::string_view argument);

/// Fails with Errc::index_out_of_range unless `index` is below `count`, the number of `what`.
[[nodiscard]] INGOT_EXPORT Result<void> require_below(std::uint64_t index, std::uint64_t count,
                                                      std::string_view what);

/// Fails with Errc::invalid_argument for a struct that is smaller than it was in the first version
/// of the ABI.
[[nodiscard]] INGOT_EXPORT Result<void> require_size(std::size_t struct_size,
                                                     std::size_t first_size);

/// The value in an ingot_value. Fails with Errc::invalid_argument for NULL and for one never set.
[[nodiscard]] INGOT_EXPORT Result<Value> require_value(const ingot_value* value,
                                                       std::string_view argument);

/// Options of opening as the C++ interface has them; NULL for the defaults.
[[nodiscard]] INGOT_EXPORT Result<OpenOptions> convert_open_options(
    const ingot_open_options* options);

/// Larger than any option struct will be; a size above comes from memory that was never set.
inline constexpr std::size_t largest_options_size = 1024;

/// The options in this library's layout; NULL for the defaults. An option of a later version is
/// refused, not ignored: the caller relies on it. `first_size` as in require_size.
template <class Options>
[[nodiscard]] Result<Options> known_options(const Options* options, std::size_t first_size) {
  static_assert(std::is_trivially_copyable_v<Options>);
  Options known = {};
  if (options == nullptr) return known;
  const std::size_t struct_size = options->struct_size;
  INGOT_TRY_VOID(require_size(struct_size, first_size));
  if (struct_size > largest_options_size) {
    return fail(Errc::invalid_argument, "struct_size", std::to_string(struct_size));
  }
  const auto given = std::as_bytes(std::span(options, 1)).data();
  for (std::size_t i = sizeof known; i < struct_size; ++i) {
    if (given[i] != std::byte{0}) {
      return fail(Errc::invalid_argument, "options", "an option that this library does not know");
    }
  }
  std::memcpy(&known, given, struct_size < sizeof known ? struct_size : sizeof known);
  return known;
}

/// Takes a number of an option struct unless it is 0, which stands for the default.
inline void take_over(std::uint64_t& number, std::uint64_t given) noexcept {
  if (given != 0) number = given;
}

/// Copies `source` into the caller's struct, which may be of an earlier or a later version: members
/// that only one of the two has are left alone. `first_size` as in require_size.
template <class Struct>
[[nodiscard]] Result<void> hand_out(Struct source, Struct* destination, std::size_t first_size) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  source.struct_size = destination->struct_size;
  INGOT_TRY_VOID(require_size(source.struct_size, first_size));
  std::memcpy(destination, &source,
              source.struct_size < sizeof source ? source.struct_size : sizeof source);
  return {};
}

/// Copies `text` with a NUL at its end; one that does not fit is cut between two characters and
/// ends in "...", as far as there is room. `capacity` must be at least 1.
void copy_text(std::string_view text, char* destination, std::size_t capacity) noexcept;

[[nodiscard]] inline ingot_string to_c(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

[[nodiscard]] inline std::string_view to_view(ingot_string text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

}  // namespace ingot::capi
