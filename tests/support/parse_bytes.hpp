// SPDX-License-Identifier: MIT
// The parser over whole files in memory.
#pragma once

#include <utility>

#include "format/parse.hpp"
#include "ingot/error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

inline constexpr bool leniently = true;

/// Parses a whole file, which must outlive the structure.
[[nodiscard]] inline Result<format::Structure> parse_whole(const Bytes& bytes,
                                                           bool is_lenient = false,
                                                           const Limits& limits = {}) {
  INGOT_TRY(format::Parsed parsed,
            format::parse(
                bytes, {.is_lenient = is_lenient, .limits = limits, .file_bytes = bytes.size()}));
  if (!parsed.is_complete()) return fail(Errc::internal, "more than the whole file is asked for");
  return std::move(parsed.structure);
}

/// The same for files that are expected to be refused, where nothing has to outlive anything.
[[nodiscard]] inline Result<void> refusal_of(const GgufBuilder& file, bool is_lenient = false,
                                             const Limits& limits = {}) {
  const Bytes bytes = file.bytes();
  return parse_whole(bytes, is_lenient, limits).transform([](auto&&) {});
}

}  // namespace ingot::test
