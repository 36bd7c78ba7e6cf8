// SPDX-License-Identifier: MIT
// The first eight bytes: magic and version, from which follow byte order and field widths.
#pragma once

#include <cstdint>

#include "format/cursor.hpp"
#include "format/value_context.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::format {

struct Magic {
  std::uint32_t version = 0;
  Endian byte_order = Endian::little;
  bool is_old = false;  ///< "FUGG", which a few old big-endian files carry
};

/// Reads magic and version. Errc::not_gguf names the likely format of the file.
[[nodiscard]] Result<Magic> read_magic(Cursor& cursor);

/// The encoding of fields in files of this version and byte order.
[[nodiscard]] detail::ValueEncoding encoding_of(std::uint32_t version, Endian byte_order) noexcept;

}  // namespace ingot::format
