// SPDX-License-Identifier: MIT
#include "npy_header.hpp"

#include <fmt/format.h>

namespace ingot::cli {

// Source: numpy.lib.format, "Format Version 1.0".
std::string npy_header(std::string_view descriptor, std::span<const std::uint64_t> shape) {
  std::string dimensions;
  for (std::size_t i = shape.size(); i-- > 0;) {
    dimensions += fmt::format("{}{}", shape[i], i > 0 ? ", " : "");
  }
  if (shape.size() == 1) dimensions += ',';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 descriptor, dimensions);
  constexpr std::size_t prefix_bytes = 10;
  const std::size_t used = prefix_bytes + text.size() + 1;
  text.append((64 - used % 64) % 64, ' ');
  text.push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(text.size() & 0xFF));
  header.push_back(static_cast<char>(text.size() >> 8));
  return header + text;
}

}  // namespace ingot::cli
