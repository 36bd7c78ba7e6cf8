// SPDX-License-Identifier: MIT
// Times as text, in English whatever the locale of the process is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingot/chat.hpp"

namespace ingot::chat {

/// No directive of two characters writes more than half of this.
inline constexpr std::size_t max_directive_bytes = 64;

/// The time of the system's clock, in its time zone.
[[nodiscard]] ChatTime local_time();

/// Formats as C's strftime does in the locale "C" with the flags of glibc (`%-d`). A directive that
/// is none stays as it is.
[[nodiscard]] std::string format_time(std::string_view format, const ChatTime& time);

}  // namespace ingot::chat
