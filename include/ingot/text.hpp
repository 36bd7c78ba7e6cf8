// SPDX-License-Identifier: MIT
// Text from files, made safe to show; bytes and numbers as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/export.h"

namespace ingot {

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
[[nodiscard]] INGOT_EXPORT bool is_utf8(std::string_view text) noexcept;

/// Makes `text` safe for a terminal, a log or a web page: printable UTF-8 stays; backslash becomes
/// `\\`; C0, DEL and C1 control characters, Unicode's bidirectional controls and line separators,
/// zero-width and other invisible format characters become `\n`, `\t`, `\r`, `\xHH` or `\u{H...}`;
/// every byte that is not part of well-formed UTF-8 becomes `\xHH`.
[[nodiscard]] INGOT_EXPORT std::string escape(std::string_view text);

/// `escape`, cut to `max_columns` terminal columns (wide East Asian characters count two, combining
/// marks none, so that bytes are bounded too: about 16 per column). A text that was cut ends in
/// "..." and never in the middle of an escape.
[[nodiscard]] INGOT_EXPORT std::string escape_shortened(std::string_view text,
                                                        std::size_t max_columns);

/// Terminal columns of `text`, which must be UTF-8 without control characters.
[[nodiscard]] INGOT_EXPORT std::size_t display_columns(std::string_view text) noexcept;

/// "4.58 GiB", "626 B": three significant digits, binary units.
[[nodiscard]] INGOT_EXPORT std::string format_bytes(std::uint64_t bytes);

/// "8.03 B", "124 M", "512": three significant digits, decimal units (K, M, B, T).
[[nodiscard]] INGOT_EXPORT std::string format_count(std::uint64_t count);

/// "4,294,967,296": every digit, in groups of three.
[[nodiscard]] INGOT_EXPORT std::string format_digits(std::uint64_t count);

/// The shortest decimal text that reads back as the same number: "1e-05", "0.1", "NaN",
/// "Infinity", "-Infinity".
[[nodiscard]] INGOT_EXPORT std::string format_float(float value);
[[nodiscard]] INGOT_EXPORT std::string format_float(double value);

/// Reads the number nearest to what the whole text spells, by std::from_chars's rules also where
/// the standard library lacks that. False if the text spells none, or one that does not fit.
[[nodiscard]] INGOT_EXPORT bool read_float(std::string_view text, float& number) noexcept;
[[nodiscard]] INGOT_EXPORT bool read_float(std::string_view text, double& number) noexcept;

/// Bytes as base64 (RFC 4648), with padding.
[[nodiscard]] INGOT_EXPORT std::string base64_encode(std::span<const std::byte> bytes);

/// Decodes base64. Nothing if `text` has other characters, line ends or missing padding.
[[nodiscard]] INGOT_EXPORT std::optional<std::vector<std::byte>> base64_decode(
    std::string_view text);

}  // namespace ingot
