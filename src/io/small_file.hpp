// SPDX-License-Identifier: MIT
// Small files, such as notes, as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "base/checked.hpp"
#include "ingot/source.hpp"

namespace ingot::io {

/// All of a file; empty if there is none, or if it has more than `max_bytes`.
[[nodiscard]] inline std::string read_small_file(const std::string& path, std::uint64_t max_bytes) {
  const Result<std::unique_ptr<Source>> source = read_file(path);
  if (!source || (*source)->size_bytes() > max_bytes) return {};
  std::string text(to_size((*source)->size_bytes()), '\0');
  if (!(*source)->read(0, std::as_writable_bytes(std::span(text)))) return {};
  return text;
}

}  // namespace ingot::io
